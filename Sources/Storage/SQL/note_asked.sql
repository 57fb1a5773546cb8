-- When the venue was last asked about an order. A row that a leg holds is passed over: it is asked about again, and nobody waits for anybody.
-- $1 order ids text[], $2 least of them text, $3 greatest of them text, $4 at bigint
UPDATE orders o SET asked_at = $4
FROM (
    SELECT order_id FROM orders WHERE order_id = ANY ($1) AND order_id >= $2 AND order_id <= $3 FOR UPDATE SKIP LOCKED
) free
WHERE o.order_id = free.order_id AND o.order_id = ANY ($1) AND o.order_id >= $2 AND o.order_id <= $3
