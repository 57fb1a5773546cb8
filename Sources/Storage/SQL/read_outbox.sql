-- The next rows of every shard's log for the venue's sender: accepted (1), cancel_requested (5) and unknown (10) ask for a message, the rest only moves
-- the cursor. Read before the shards are locked: a row never changes, and the lock tells which of them the sender is past meanwhile.
-- $1 limit for each shard bigint
SELECT l.shard, l.position, l.type, l.order_id, l.account_id
FROM shards s CROSS JOIN LATERAL (
    SELECT * FROM log WHERE shard = s.shard AND position > s.sent_log ORDER BY position LIMIT $1
) l
WHERE s.sent_log < s.next_log - 1
ORDER BY l.shard, l.position
