-- The cancels under way of an account's open orders, the oldest order first: n of each is its number of requests.
-- $1 account id text
SELECT order_id, cancels FROM orders WHERE account_id = $1 AND status IN (1, 2, 3, 4, 9) AND cancel_pending ORDER BY created_at, order_id
