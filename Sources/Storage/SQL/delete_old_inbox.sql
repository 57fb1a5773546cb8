-- Reports that were settled long ago, the oldest first. Parked ones keep a copy of their message.
-- $1 before bigint, $2 portion bigint
DELETE FROM inbox WHERE inbox_id IN (
    SELECT i.inbox_id FROM (SELECT inbox_id, received_at, shard FROM inbox ORDER BY inbox_id LIMIT $2) i JOIN shards s ON s.shard = i.shard
    WHERE i.received_at < $1 AND i.inbox_id <= s.settled_inbox)
