-- What differs between the venue's answer to an OrderMassStatusRequest and what is here. What was booked of reports behind an answer is not yet in its
-- CumQty, and says that the order has moved, which a later status does not; an order that was numbered behind the request need not be in the answer.
-- $1 reconciliation id bigint, $2 orders that are open here text[], $3 venue text
WITH asked AS MATERIALIZED (SELECT * FROM reconciliations WHERE reconciliation_id = $1), received AS MATERIALIZED (
    SELECT i.inbox_id, i.order_id, i.exec_type, i.order_status, i.cumulative_quantity, i.order_quantity, i.request_id, i.reject_reason, i.exec_id,
        i.trade_date,
        fix_has(i.message, '584=R' || a.reconciliation_id) AS is_answer
    FROM asked a JOIN inbox i ON i.inbox_id >= a.first_inbox AND i.session_id = a.session_id
), answers AS MATERIALIZED (
    SELECT DISTINCT ON (order_id) * FROM received
    WHERE is_answer AND order_id IS NOT NULL AND NOT (order_status = '8' AND reject_reason IS NOT DISTINCT FROM 5) ORDER BY order_id, inbox_id DESC
), later AS MATERIALIZED (
    SELECT r.order_id, COALESCE(sum(CASE e.kind WHEN 2 THEN -e.quantity WHEN 3 THEN 0 ELSE e.quantity END), 0) AS filled
    FROM received r JOIN answers a ON a.order_id = r.order_id AND r.inbox_id > a.inbox_id AND r.exec_type IS DISTINCT FROM 'I'
    LEFT JOIN executions e ON e.venue = $3 AND e.trade_date = r.trade_date AND e.exec_id = r.exec_id AND e.inbox_id = r.inbox_id
    GROUP BY r.order_id
), compared AS MATERIALIZED (
    SELECT a.order_id, a.order_status, a.cumulative_quantity, o.account_id, o.status, o.filled_quantity - COALESCE(l.filled, 0) AS filled,
        l.order_id IS NOT NULL AS has_moved, a.order_quantity, a.request_id, o.quantity,
        o.new_quantity IS NULL AND (a.order_quantity <> o.quantity OR substring(a.request_id FROM '-r([0-9]{1,9})$')::int > COALESCE(o.taken_replace, 0)) AS is_other
    FROM answers a LEFT JOIN orders o ON o.order_id = a.order_id LEFT JOIN later l ON l.order_id = a.order_id
)
SELECT order_id, account_id, 'not_ours' AS what,
    format('the venue has an order that is not here: OrdStatus (39) %s, CumQty (14) %s', order_status, cumulative_quantity) AS detail
FROM compared WHERE account_id IS NULL
UNION ALL
SELECT order_id, account_id, 'cum_qty', format('the venue says CumQty (14) %s, booked are %s', cumulative_quantity, filled)
FROM compared WHERE account_id IS NOT NULL AND cumulative_quantity IS DISTINCT FROM filled
UNION ALL
SELECT order_id, account_id, 'terms',
    format('the venue has it as %s with OrderQty (38) %s, here it is of %s', COALESCE(request_id, order_id), order_quantity, quantity)
FROM compared WHERE account_id IS NOT NULL AND is_other AND status IN (2, 3, 4, 9) AND order_status IN ('0', '1') AND NOT has_moved
UNION ALL
SELECT order_id, account_id, 'open_at_venue', format('ended here, and open at the venue: OrdStatus (39) %s', order_status)
FROM compared WHERE account_id IS NOT NULL AND status IN (5, 6, 7, 8) AND order_status IN ('0', '1') AND NOT has_moved
UNION ALL
SELECT o.order_id, o.account_id, 'not_at_venue', 'open here, and not in the venue''s answer: it is UNKNOWN and asked about'
FROM asked a CROSS JOIN orders o
WHERE o.order_id = ANY ($2) AND o.status IN (2, 3, 4) AND o.routed_at < a.sent_at AND NOT EXISTS (SELECT FROM answers n WHERE n.order_id = o.order_id)
