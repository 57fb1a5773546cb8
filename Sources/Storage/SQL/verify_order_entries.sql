-- Orders whose own entries do not come to what they hold, or to what their fills settled with the house.
-- A journal's first entry names its order; older ones name it in each.
-- $1 limit bigint
WITH sums AS (
    SELECT j.order_id, e.asset, e.bucket, sum(CASE e.direction WHEN 2 THEN e.amount::numeric ELSE -e.amount::numeric END) AS amount
    FROM (SELECT shard, journal, max(order_id) AS order_id FROM ledger_entries WHERE order_id <> '' GROUP BY shard, journal) j
    JOIN ledger_entries e ON e.shard = j.shard AND e.journal = j.journal
    WHERE e.bucket IN (2, 4) GROUP BY j.order_id, e.asset, e.bucket
), expected AS (
    SELECT o.order_id, e.asset, e.bucket, e.amount
    FROM orders o CROSS JOIN LATERAL (VALUES
        (CASE o.side WHEN 1 THEN '$' ELSE o.symbol END, 2::smallint, o.held::numeric),
        ('$', 4::smallint, CASE o.side WHEN 1 THEN o.filled_value ELSE -o.filled_value END::numeric),
        (o.symbol, 4::smallint, CASE o.side WHEN 1 THEN -1 ELSE 1 END * o.filled_quantity::numeric * 10000)
    ) AS e (asset, bucket, amount)
)
SELECT COALESCE(s.order_id, e.order_id) AS order_id, COALESCE(s.asset, e.asset) AS asset,
    CASE COALESCE(s.bucket, e.bucket) WHEN 2 THEN 'held' ELSE 'settlement' END AS bucket,
    COALESCE(e.amount, 0)::text AS by_the_order, COALESCE(s.amount, 0)::text AS by_its_entries
FROM sums s FULL JOIN expected e ON e.order_id = s.order_id AND e.asset = s.asset AND e.bucket = s.bucket
WHERE COALESCE(s.amount, 0) <> COALESCE(e.amount, 0) AND COALESCE(s.order_id, e.order_id) >= (SELECT orders_kept_from())
ORDER BY 1, 2, 3 LIMIT $1
