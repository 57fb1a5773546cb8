-- Reports that were settled long ago. Parked ones keep a copy of their message.
-- $1 before bigint, $2 limit bigint
DELETE FROM inbox WHERE inbox_id IN (
    SELECT i.inbox_id FROM inbox i JOIN shards s ON s.shard = i.shard
    WHERE i.received_at < $1 AND i.inbox_id <= s.settled_inbox ORDER BY i.inbox_id LIMIT $2)
