-- Orders that were not numbered for the venue by their deadline.
-- $1 shard smallint, $2 now bigint, $3 limit int
SELECT order_id FROM orders WHERE shard = $1 AND status = 1 AND route_by < $2 ORDER BY created_at LIMIT $3
