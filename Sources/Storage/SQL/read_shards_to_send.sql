-- Which shards have log rows that the sender has not looked at yet.
SELECT shard FROM shards WHERE sent_log < next_log - 1 ORDER BY shard
