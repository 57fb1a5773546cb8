-- The next unsettled reports of every shard, each shard's in the order they were received, with whose order they speak of. Read before the shards are
-- locked: a report never changes, and the lock tells which of them were settled meanwhile. None for a router of another session than the one in force: it would
-- book them under the ExecIDs of its own venue. All of the session before are settled when that is changed.
-- $1 limit for each shard bigint, $2 session id text
SELECT i.inbox_id, i.kind, i.order_id, i.request_id, i.exec_id, i.trade_date, i.exec_type, i.order_status, i.last_quantity, i.last_price,
    i.cumulative_quantity, i.order_quantity, i.reject_reason, i.symbol, i.side, i.text, i.shard, o.account_id, o.symbol, i.exec_ref_id, i.status_question,
    i.generation, COALESCE(i.is_repeated, false)
FROM shards s CROSS JOIN LATERAL (
    SELECT * FROM inbox WHERE shard = s.shard AND inbox_id > s.settled_inbox ORDER BY inbox_id LIMIT $1
) i
LEFT JOIN LATERAL (SELECT account_id, symbol FROM orders WHERE order_id = i.order_id LIMIT 1) o ON true
WHERE EXISTS (SELECT FROM fix_sessions WHERE session_id = $2 AND ended_at IS NULL)
ORDER BY i.shard, i.inbox_id
