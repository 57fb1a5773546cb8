-- Which shards have reports that are not settled yet. One query polls all.
SELECT s.shard FROM shards s WHERE EXISTS (SELECT FROM inbox i WHERE i.shard = s.shard AND i.inbox_id > s.settled_inbox) ORDER BY s.shard
