-- New events of many readers at once, each from its own cursor on, in order; what does not change of an order comes from its row.
-- $1 account ids text[], $2 after event number bigint[], pairwise; $3 limit for each pair bigint
SELECT wanted.place, e.account_id, e.event_number, e.at, e.type, e.status, e.filled_quantity, e.filled_value, e.held, e.reason, e.last_quantity, e.last_price,
    o.order_id, o.key, o.symbol, o.side, o.order_type, o.time_in_force, o.quantity, o.limit_price, o.stop_price, o.hold_price, o.created_at, o.route_by
FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS wanted (account_id, after, place)
CROSS JOIN LATERAL (
    SELECT * FROM log l WHERE l.account_id = wanted.account_id AND l.event_number > wanted.after ORDER BY l.event_number LIMIT $3
) e
CROSS JOIN LATERAL (SELECT * FROM orders WHERE order_id = e.order_id OFFSET 0) o
ORDER BY wanted.place, e.event_number
