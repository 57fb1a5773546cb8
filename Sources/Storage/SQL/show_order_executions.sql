-- The executions that were booked for an order.
-- $1 order id text
SELECT venue, trade_date, exec_id, utc_text(at) AS booked_at, quantity::text, (price / 10000.0)::numeric(24, 4)::text AS price, inbox_id::text
FROM executions WHERE order_id = $1 ORDER BY at, exec_id
