-- Messages of ours in the order of their numbers, from where each session was watched last, that are old enough to be answered. A row for each order
-- that is still ROUTED, and one, perhaps without order, for the last message up to which all are old enough: the watch moves on to that one and no
-- further, for the sender's clock may have been set back, and a message that is too young is looked at again.
-- $1 sent before bigint, $2 messages of a session at most bigint
SELECT w.session_id, w.generation, w.number, w.shard, w.order_id, w.is_past
FROM (
    SELECT d.session_id, d.generation, d.number, d.shard, o.order_id, d.is_past,
        d.is_past AND NOT COALESCE(lead(d.is_past) OVER (PARTITION BY d.session_id ORDER BY d.generation, d.number), false) AS is_last
    FROM (
        SELECT m.*, bool_and(m.sent_at < $1) OVER (PARTITION BY m.session_id ORDER BY m.generation, m.number) AS is_past
        FROM fix_sessions s
        CROSS JOIN LATERAL (
            SELECT f.session_id, f.generation, f.number, f.sent_at, f.shard, f.msg_type, f.order_id FROM fix_sent f
            WHERE f.session_id = s.session_id AND (f.generation, f.number) > (s.watched_generation, s.watched_number)
            ORDER BY f.generation, f.number LIMIT $2
        ) m
    ) d
    LEFT JOIN LATERAL (SELECT order_id FROM orders WHERE order_id = d.order_id AND status = 2 AND d.msg_type = 'D' OFFSET 0) o ON true
    WHERE d.sent_at < $1
) w
WHERE w.is_last OR w.order_id IS NOT NULL
ORDER BY w.session_id, w.generation, w.number
