-- Where each shard's log ends: tells the streams whether there is anything new.
SELECT shard, next_log FROM shards ORDER BY shard
