-- Orders by ClOrdID, for settle and cancel.
-- $1 order ids text[]
SELECT order_id, account_id, key, symbol, side, order_type, time_in_force, quantity, limit_price, stop_price, hold_price, created_at, route_by,
    status, held, filled_quantity, filled_value, cancels, cancel_pending, reason, updated_at
FROM orders WHERE order_id = ANY ($1)
