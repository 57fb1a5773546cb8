-- Takes a shard: everything that changes its accounts waits here, so sequence order is commit order.
-- $1 shard smallint
SELECT next_log, next_journal, sent_log, settled_inbox FROM shards WHERE shard = $1 FOR UPDATE
