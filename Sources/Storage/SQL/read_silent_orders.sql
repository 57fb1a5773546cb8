-- Messages of ours in the order of their numbers, from where each session was watched last, that are old enough to be answered. A row for each order
-- that is still ROUTED, and one, perhaps without order, for the last message of each session.
-- $1 sent before bigint, $2 messages of a session at most bigint
SELECT w.session_id, w.generation, w.number, w.shard, w.order_id
FROM (
    SELECT m.session_id, m.generation, m.number, m.shard, o.order_id,
        lead(m.number) OVER (PARTITION BY m.session_id ORDER BY m.generation, m.number) IS NULL AS is_last
    FROM fix_sessions s
    CROSS JOIN LATERAL (
        SELECT f.session_id, f.generation, f.number, f.sent_at, f.shard, f.msg_type, f.order_id FROM fix_sent f
        WHERE f.session_id = s.session_id AND (f.generation, f.number) > (s.watched_generation, s.watched_number)
        ORDER BY f.generation, f.number LIMIT $2
    ) m
    LEFT JOIN LATERAL (SELECT order_id FROM orders WHERE order_id = m.order_id AND status = 2 AND m.msg_type = 'D' OFFSET 0) o ON true
    WHERE m.sent_at < $1
) w
WHERE w.is_last OR w.order_id IS NOT NULL
ORDER BY w.session_id, w.generation, w.number
