-- What the venue has left open: UNKNOWN orders, and those whose cancel or replace it has not answered, in doubt for longest first, with the evidence: since when (the
-- event that told it, while it is kept), when the venue was last asked, the newest message of ours about it, and the newest report. Reads sent messages and
-- reports whole: an operator's question, not a leg's.
-- $1 limit bigint
WITH doubts AS MATERIALIZED (
    SELECT o.*, COALESCE(
        (SELECT max(l.at) FROM log l WHERE l.account_id = o.account_id AND l.order_id = o.order_id AND l.type = CASE WHEN o.status = 9 THEN 10 WHEN o.cancel_pending THEN 5 ELSE 11 END),
        o.updated_at) AS since
    FROM orders o WHERE o.in_doubt AND (o.status = 9 OR o.cancel_pending OR o.new_quantity IS NOT NULL)
), ordered AS MATERIALIZED (
    SELECT * FROM doubts ORDER BY since, order_id LIMIT $1
), sent AS (
    SELECT DISTINCT ON (order_id) order_id, session_id, generation, number, msg_type, sent_at FROM fix_sent
    WHERE order_id IN (SELECT order_id FROM ordered) ORDER BY order_id, generation DESC, number DESC
), first AS (
    SELECT DISTINCT ON (order_id) order_id, generation, number FROM fix_sent
    WHERE msg_type = 'D' AND order_id IN (SELECT order_id FROM ordered) ORDER BY order_id, generation, number
), asked AS (
    -- The first question goes out with the doubt itself; asked_at counts those after it.
    SELECT order_id, max(sent_at) AS at FROM fix_sent WHERE msg_type = 'H' AND order_id IN (SELECT order_id FROM ordered) GROUP BY order_id
), received AS (
    SELECT DISTINCT ON (order_id) order_id, generation, number, received_at, exec_type, order_status, cumulative_quantity, text FROM inbox
    WHERE order_id IN (SELECT order_id FROM ordered) ORDER BY order_id, inbox_id DESC
)
SELECT d.order_id, d.account_id, d.symbol, d.side, d.status, d.quantity, d.filled_quantity, d.held, d.cancel_pending, d.new_quantity IS NOT NULL, d.reason, d.since, greatest(d.asked_at, a.at),
    s.session_id, f.generation, f.number, s.msg_type, s.generation, s.number, s.sent_at, r.generation, r.number, r.received_at, r.exec_type, r.order_status,
    r.cumulative_quantity, r.text
FROM ordered d LEFT JOIN sent s ON s.order_id = d.order_id LEFT JOIN first f ON f.order_id = d.order_id LEFT JOIN asked a ON a.order_id = d.order_id
    LEFT JOIN received r ON r.order_id = d.order_id
ORDER BY d.since, d.order_id
