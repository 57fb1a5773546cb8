-- Orders that the venue has or may have, to be asked about when messages between it and us were lost for good.
-- $1 shard smallint, $2 limit int
SELECT order_id FROM orders WHERE shard = $1 AND status IN (2, 3, 4) ORDER BY created_at LIMIT $2
