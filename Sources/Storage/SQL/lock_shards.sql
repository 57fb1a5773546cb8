-- Takes shards, ascending: everything that changes their accounts waits here, so sequence order is commit order within each.
-- $1 shards smallint[]
SELECT shard, next_log, next_journal, sent_log, settled_inbox FROM shards WHERE shard = ANY ($1) ORDER BY shard FOR UPDATE
