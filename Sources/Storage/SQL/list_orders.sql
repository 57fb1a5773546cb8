-- An account's orders, newest first, from a cursor on. The inner query reads the index in its order and no further than needed, with all of the last
-- one's millisecond; the outer one puts each millisecond's orders in order.
-- $1 account id text, $2 status smallint or null, $3 symbol text or null, $4 cursor created_at bigint or null, $5 cursor order id text, $6 limit, $7 offset bigint
SELECT order_id, account_id, key, symbol, side, order_type, time_in_force, quantity, limit_price, stop_price, hold_price, created_at, route_by,
    status, held, filled_quantity, filled_value, cancels, cancel_pending, reason, updated_at,
    replaces, taken_replace, new_quantity, new_limit_price, new_stop_price, new_hold_price, first_quantity, first_limit_price, first_stop_price, resends, unanswered_in,
    new_replace, new_lost_in
FROM (
    SELECT * FROM orders
    WHERE account_id = $1 AND created_at <= COALESCE($4::bigint, 9223372036854775807)
        AND ($4 IS NULL OR (created_at, order_id) < ($4, $5))
        AND ($2::smallint IS NULL OR status = $2) AND ($3::text IS NULL OR symbol = $3)
    ORDER BY created_at DESC FETCH FIRST ($6::bigint + $7::bigint) ROWS WITH TIES
) newest
ORDER BY created_at DESC, order_id DESC LIMIT $6 OFFSET $7
