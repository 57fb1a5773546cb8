-- One order of an account. By its id first, whatever the planner knows of the tables (OFFSET 0): an account can have a million.
-- $1 account id text, $2 order id text
SELECT order_id, account_id, key, symbol, side, order_type, time_in_force, quantity, limit_price, stop_price, hold_price, created_at, route_by,
    status, held, filled_quantity, filled_value, cancels, cancel_pending, reason, updated_at,
    replaces, taken_replace, new_quantity, new_limit_price, new_stop_price, new_hold_price, first_quantity, first_limit_price, first_stop_price, resends, unanswered_in,
    new_replace, new_lost_in
FROM (SELECT * FROM orders WHERE order_id = $2 OFFSET 0) o WHERE account_id = $1
