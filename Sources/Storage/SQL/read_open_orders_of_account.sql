-- An account's open orders, the oldest first.
-- $1 account id text
SELECT order_id FROM orders WHERE account_id = $1 AND status IN (1, 2, 3, 4, 9) ORDER BY created_at, order_id
