-- The open orders of accounts whose cancel is not under way, oldest first; each account's are read by its own index. Under the shards' locks nothing comes in between.
-- $1 account ids text[], $2 limit for each bigint
SELECT order_id FROM unnest($1::text[]) AS wanted (account_id)
CROSS JOIN LATERAL (
    SELECT order_id FROM orders
    WHERE account_id = wanted.account_id AND status IN (1, 2, 3, 4, 9) AND NOT cancel_pending ORDER BY created_at, order_id LIMIT $2
) o
