-- Requests to cancel (5) or replace (11) these orders that wait in the log for their number. Under their shard's lock.
-- $1 shard smallint, $2 the sender is past this position bigint, $3 order ids text[]
SELECT DISTINCT order_id, type FROM log WHERE shard = $1 AND position > $2 AND type IN (5, 11) AND order_id = ANY ($3)
