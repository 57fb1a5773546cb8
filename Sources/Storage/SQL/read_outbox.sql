-- The next rows of a shard's log for the venue's sender: accepted (1), cancel_requested (5) and unknown (10) ask for a message, the rest only moves the cursor.
-- $1 shard smallint, $2 limit int
SELECT l.position, l.type, l.order_id
FROM log l WHERE l.shard = $1 AND l.position > (SELECT sent_log FROM shards WHERE shard = $1)
ORDER BY l.position LIMIT $2
