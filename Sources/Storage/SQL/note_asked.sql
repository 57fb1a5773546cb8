-- When the venue was last asked about an order. A row that a leg holds is passed over: it is asked about again, and nobody waits for anybody.
-- $1 order ids text[], $2 at bigint
UPDATE orders SET asked_at = $2
WHERE order_id IN (SELECT order_id FROM orders WHERE order_id = ANY ($1) FOR UPDATE SKIP LOCKED)
