-- The parts that orders lie in, the newest first, with how many blocks each has.
SELECT part, pg_relation_size(part_oid)::bigint / current_setting('block_size')::bigint
FROM parts WHERE parent = 'orders' AND NOT is_leaving ORDER BY begins DESC NULLS LAST
