-- Reports that were settled long ago, each shard's oldest first. Parked ones keep a copy of their message.
-- $1 before bigint, $2 portion of each shard bigint
DELETE FROM inbox WHERE (shard, inbox_id) IN (
    SELECT i.shard, i.inbox_id
    FROM shards s CROSS JOIN LATERAL (SELECT shard, inbox_id, received_at FROM inbox WHERE shard = s.shard ORDER BY inbox_id LIMIT $2) i
    WHERE i.received_at < $1 AND i.inbox_id <= s.settled_inbox)
