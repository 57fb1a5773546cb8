-- Orders by ClOrdID, for settle and cancel. The bounds leave out the parts that none of them can be in, before anything is opened.
-- $1 order ids text[], $2 least of them text, $3 greatest of them text
SELECT order_id, account_id, key, symbol, side, order_type, time_in_force, quantity, limit_price, stop_price, hold_price, created_at, route_by,
    status, held, filled_quantity, filled_value, cancels, cancel_pending, reason, updated_at,
    replaces, taken_replace, new_quantity, new_limit_price, new_stop_price, new_hold_price, first_quantity, first_limit_price, first_stop_price, resends, unanswered_in,
    new_replace, new_lost_in
FROM orders WHERE order_id = ANY ($1) AND order_id >= $2 AND order_id <= $3
