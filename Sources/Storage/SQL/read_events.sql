-- New events of many readers at once, each from its own cursor on, in order. What does not change of an order is read apart, once for all its events.
-- $1 account ids text[], $2 after event number bigint[], pairwise; $3 limit for each pair bigint
SELECT wanted.place, e.account_id, e.event_number, e.at, e.type, e.status, e.filled_quantity, e.filled_value, e.held, e.reason, e.last_quantity, e.last_price,
    e.order_id, e.quantity, e.limit_price, e.stop_price
FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS wanted (account_id, after, place)
CROSS JOIN LATERAL (
    SELECT * FROM log l WHERE l.account_id = wanted.account_id AND l.event_number > wanted.after ORDER BY l.event_number LIMIT $3
) e
ORDER BY wanted.place, e.event_number
