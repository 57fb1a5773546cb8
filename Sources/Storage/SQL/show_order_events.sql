-- The kept events of an order, oldest first.
-- $1 order id text
SELECT l.event_number::text AS number, utc_text(l.at) AS at, l.type::text AS event, l.status::text,
    l.filled_quantity::text AS filled, (l.held / 10000.0)::numeric(24, 4)::text AS held, l.last_quantity::text,
    (l.last_price / 10000.0)::numeric(24, 4)::text AS last_price, l.reason
FROM orders o JOIN log l ON l.account_id = o.account_id AND l.order_id = o.order_id
WHERE o.order_id = $1 ORDER BY l.event_number
