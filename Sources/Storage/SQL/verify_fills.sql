-- Orders whose filled quantity or value is not the sum of their executions (without those that the venue took back), and executions that fit no order.
-- $1 limit bigint
WITH sums AS (
    SELECT account_id, order_id, symbol, side, shard, sum(quantity::numeric) AS quantity, sum(quantity::numeric * price) AS value
    FROM executions e
    WHERE kind IS DISTINCT FROM 2
        AND NOT EXISTS (SELECT FROM executions r WHERE r.venue = e.venue AND r.trade_date = e.trade_date AND r.reversed_exec_id = e.exec_id)
    GROUP BY account_id, order_id, symbol, side, shard
)
SELECT COALESCE(o.account_id, s.account_id) AS account_id, COALESCE(o.order_id, s.order_id) AS order_id,
    o.filled_quantity::text AS filled_quantity, s.quantity::text AS executed_quantity, o.filled_value::text AS filled_value, s.value::text AS executed_value
FROM orders o
FULL JOIN sums s ON s.account_id = o.account_id AND s.order_id = o.order_id AND s.symbol = o.symbol AND s.side = o.side AND s.shard = o.shard
WHERE COALESCE(o.order_id, s.order_id) >= (SELECT orders_kept_from()) AND (o.order_id IS NULL OR o.filled_quantity <> COALESCE(s.quantity, 0) OR o.filled_value <> COALESCE(s.value, 0))
ORDER BY 2, 1 LIMIT $1
