-- Accounts whose held balance is not what their orders hold together.
-- $1 limit bigint
WITH holds AS (
    SELECT account_id, CASE side WHEN 1 THEN '$' ELSE symbol END AS asset, sum(held::numeric) AS held
    FROM orders WHERE held <> 0 GROUP BY 1, 2
)
SELECT COALESCE(b.account_id, h.account_id) AS account_id, COALESCE(b.asset, h.asset) AS asset,
    COALESCE(b.held, 0)::text AS balance, COALESCE(h.held, 0)::text AS held_by_orders
FROM (SELECT account_id, asset, held::numeric AS held FROM balances WHERE held <> 0) b
FULL JOIN holds h ON h.account_id = b.account_id AND h.asset = b.asset
WHERE COALESCE(b.held, 0) <> COALESCE(h.held, 0)
ORDER BY 1, 2 LIMIT $1
