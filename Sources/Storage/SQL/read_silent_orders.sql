-- Orders that the venue has not answered in time.
-- $1 shard smallint, $2 routed before bigint, $3 limit int
SELECT order_id FROM orders WHERE shard = $1 AND status = 2 AND routed_at < $2 ORDER BY created_at LIMIT $3
