-- The next rows of shards' logs for the venue's sender: accepted (1), cancel_requested (5) and unknown (10) ask for a message, the rest only moves the cursor.
-- $1 shards smallint[], $2 limit for each shard bigint
SELECT l.shard, l.position, l.type, l.order_id
FROM shards s CROSS JOIN LATERAL (
    SELECT * FROM log WHERE shard = s.shard AND position > s.sent_log ORDER BY position LIMIT $2
) l
WHERE s.shard = ANY ($1)
