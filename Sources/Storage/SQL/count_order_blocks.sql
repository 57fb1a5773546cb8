-- How many blocks of 8 kB the orders have.
SELECT pg_relation_size('orders') / current_setting('block_size')::bigint
