-- Orders filled beyond their quantity, and accounts that owe, of which nobody was told.
-- $1 limit bigint
SELECT o.account_id, o.order_id AS order_or_asset, 'overfill' AS missing_alarm, (o.filled_quantity - o.quantity)::text AS amount
FROM orders o
WHERE o.filled_quantity > o.quantity AND NOT EXISTS (SELECT FROM alarms a WHERE a.kind = 'overfill' AND a.order_id = o.order_id)
UNION ALL
SELECT b.account_id, b.asset, 'owes', b.owed::text
FROM balances b
WHERE b.owed > 0 AND NOT EXISTS (SELECT FROM alarms a WHERE a.kind = 'owes' AND a.account_id = b.account_id)
ORDER BY 1, 2 LIMIT $1
