-- Which shards have orders past their route deadline, or routed and unanswered for too long.
-- $1 now bigint, $2 routed before bigint
SELECT DISTINCT shard FROM orders WHERE (status = 1 AND route_by < $1) OR (status = 2 AND routed_at < $2) ORDER BY shard
