-- The next reports of shards, each shard's in the order they were received.
-- $1 shards smallint[], $2 limit for each shard bigint
SELECT i.inbox_id, i.kind, i.order_id, i.cancel_id, i.exec_id, i.trade_date, i.exec_type, i.order_status, i.last_quantity, i.last_price,
    i.cumulative_quantity, i.order_quantity, i.reject_reason, i.symbol, i.side, i.text, i.shard
FROM shards s CROSS JOIN LATERAL (
    SELECT * FROM inbox WHERE shard = s.shard AND inbox_id > s.settled_inbox ORDER BY inbox_id LIMIT $2
) i
WHERE s.shard = ANY ($1)
