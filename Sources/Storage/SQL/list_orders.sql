-- An account's orders, newest first, from a cursor on.
-- $1 account id text, $2 status smallint or null, $3 symbol text or null, $4 cursor created_at bigint or null, $5 cursor order id text, $6 limit int, $7 offset int
SELECT order_id, account_id, key, symbol, side, order_type, time_in_force, quantity, limit_price, stop_price, hold_price, created_at, route_by,
    status, held, filled_quantity, filled_value, cancels, cancel_pending, reason, updated_at
FROM orders
WHERE account_id = $1 AND ($2::smallint IS NULL OR status = $2) AND ($3::text IS NULL OR symbol = $3)
    AND ($4::bigint IS NULL OR (created_at, order_id) < ($4, $5))
ORDER BY created_at DESC, order_id DESC LIMIT $6 OFFSET $7
