-- NewOrderSingles beyond one an order and, with PossResend=Y in front, one for each time that it was to be sent again; of no order, under another ClOrdID
-- (tag 11, between SOH), or of an order that says it was never numbered; and routed orders whose message is missing although messages of their time are still kept.
-- $1 limit bigint
WITH sent AS (
    SELECT f.order_id, count(*) AS messages, min(f.number) AS number,
        count(*) FILTER (WHERE substring(f.body FOR 5) = convert_to('97=Y' || chr(1), 'UTF8')) AS again,
        bool_and(position(convert_to(chr(1) || '11=' || f.order_id || chr(1), 'UTF8') IN convert_to(chr(1), 'UTF8') || f.body || convert_to(chr(1), 'UTF8')) > 0)
            AS under_its_id
    FROM fix_sent f WHERE f.msg_type = 'D' GROUP BY f.order_id
), kept AS (SELECT max(oldest) AS since FROM (SELECT min(sent_at) AS oldest FROM fix_sent GROUP BY session_id) sessions)
SELECT COALESCE(s.order_id, o.order_id) AS order_id, COALESCE(s.messages, 0)::text AS new_orders_sent, s.number::text AS first_number, o.status::text AS status,
    CASE WHEN s.messages - s.again > 1 THEN 'sent as new more than once'
        WHEN s.again > COALESCE(o.resends, 0) THEN 'sent again more often than decided' WHEN o.order_id IS NULL THEN 'no such order'
        WHEN NOT s.under_its_id THEN 'under another ClOrdID'
        WHEN s.order_id IS NOT NULL THEN 'sent, yet never numbered' ELSE 'routed, yet not sent' END AS why
FROM sent s FULL JOIN orders o ON o.order_id = s.order_id CROSS JOIN kept
WHERE COALESCE(s.order_id, o.order_id) >= (SELECT orders_kept_from()) AND (
    s.messages - s.again > 1 OR s.again > COALESCE(o.resends, 0) OR o.order_id IS NULL OR NOT s.under_its_id OR (s.order_id IS NOT NULL AND o.routed_at IS NULL)
    OR (s.order_id IS NULL AND o.routed_at >= kept.since))
ORDER BY 1 LIMIT $1
