-- Where each shard's log ends: from there on a router reads for its clients.
SELECT shard, next_log - 1 FROM shards
