-- Accepted keys without their order, and orders without their accepted key. Joined on account and order id, so that another account's does not count.
-- $1 limit bigint
SELECT COALESCE(k.account_id, o.account_id) AS account_id, COALESCE(k.key, o.key)::text AS idempotency_key,
    k.order_id AS order_of_the_key, o.order_id AS order_id, k.outcome::text AS outcome,
    CASE WHEN k.order_id IS NULL THEN 'an order without its accepted key' WHEN o.order_id IS NULL THEN 'an accepted key without its order'
        WHEN k.http_status <> 201 THEN 'not answered with 201' WHEN a.shard IS DISTINCT FROM o.shard THEN 'not the shard of its account'
        ELSE 'the order has another key' END AS why
FROM (SELECT * FROM idempotency_keys WHERE outcome = 1) k
FULL JOIN orders o ON o.account_id = k.account_id AND o.order_id = k.order_id
LEFT JOIN accounts a ON a.account_id = o.account_id
WHERE COALESCE(k.order_id, o.order_id) >= (SELECT orders_kept_from()) AND (k.order_id IS NULL OR o.order_id IS NULL OR k.key <> o.key OR k.http_status IS DISTINCT FROM 201 OR a.shard IS DISTINCT FROM o.shard)
ORDER BY 1, 2 LIMIT $1
