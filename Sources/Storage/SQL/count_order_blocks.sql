-- How many blocks the largest part of the orders has.
SELECT COALESCE(max(pg_relation_size(part_oid)), 0)::bigint / current_setting('block_size')::bigint FROM parts WHERE parent = 'orders'
