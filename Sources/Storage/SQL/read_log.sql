-- What comes next in shards' logs, each in its order: every event of all accounts once, however many clients wait for them. A shard's positions are
-- given under its lock and committed in order: whoever reads on from a position misses nothing.
-- $1 shards smallint[], $2 after position bigint[], pairwise; $3 limit for each pair bigint
SELECT l.position, l.account_id, l.event_number, l.at, l.type, l.status, l.filled_quantity, l.filled_value, l.held, l.reason, l.last_quantity, l.last_price,
    l.order_id, l.quantity, l.limit_price, l.stop_price, l.shard
FROM unnest($1::smallint[], $2::bigint[]) AS wanted (shard, after)
CROSS JOIN LATERAL (
    SELECT * FROM log WHERE shard = wanted.shard AND position > wanted.after ORDER BY position LIMIT $3
) l
ORDER BY l.shard, l.position
