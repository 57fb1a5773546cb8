-- Customers' balances below zero, and settlement outside the house.
-- $1 limit bigint
SELECT account_id, asset, available::text AS available, held::text AS held, owed::text AS owed, settlement::text AS settlement
FROM balances
WHERE balances.available < 0 OR balances.held < 0 OR balances.owed < 0
    OR CASE WHEN account_id LIKE '~house-%' THEN balances.available <> 0 OR balances.held <> 0 OR balances.owed <> 0 ELSE balances.settlement <> 0 END
ORDER BY account_id, asset LIMIT $1
