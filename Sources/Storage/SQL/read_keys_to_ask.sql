-- Recovered keys that the venue has not answered and was not asked about lately, oldest first.
-- $1 asked before bigint, $2 limit bigint
SELECT account_id, key, order_id, symbol, side FROM recovered_keys
WHERE known IS NULL AND COALESCE(asked_at, 0) < $1 ORDER BY created_at LIMIT $2
