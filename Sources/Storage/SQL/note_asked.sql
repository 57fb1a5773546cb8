-- When the venue was last asked about an order.
-- $1 order ids text[], $2 at bigint
UPDATE orders SET asked_at = $2 WHERE order_id = ANY ($1)
