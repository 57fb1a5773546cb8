-- Orders that hold other than their remaining quantity needs, or than a replace under way may need: a BUY its hold price for each share, a SELL the shares. Status 1 to 4 and 9 are open.
-- $1 limit bigint
SELECT account_id, order_id, status::text AS status, quantity::text AS quantity, filled_quantity::text AS filled, held::text AS held, needed::text AS needed
FROM (
    SELECT account_id, order_id, status, quantity, filled_quantity, held, created_at,
        CASE WHEN status IN (1, 2, 3, 4, 9)
            THEN greatest(
                greatest(quantity - filled_quantity, 0)::numeric * CASE side WHEN 1 THEN hold_price ELSE 10000 END,
                greatest(new_quantity - filled_quantity, 0)::numeric * CASE side WHEN 1 THEN new_hold_price ELSE 10000 END
            ) ELSE 0 END AS needed,
        greatest(quantity, new_quantity) AS largest
    FROM orders
) o
WHERE o.held <> o.needed OR (o.status IN (1, 2, 3, 4) AND o.filled_quantity >= o.largest) OR (o.status = 5 AND o.filled_quantity < o.quantity)
ORDER BY o.created_at, order_id LIMIT $1
