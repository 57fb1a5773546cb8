-- Takes every shard, ascending: a halt commits through all of them before its command answers.
SELECT shard FROM shards ORDER BY shard FOR UPDATE
