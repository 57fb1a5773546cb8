-- An order's entries in the ledger. A journal's first entry names its order; older ones name it in each. They were written while the order changed.
-- $1 order id text
SELECT l.journal::text, l.line::text, to_char(l.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at, l.cause, l.account_id AS account,
    COALESCE(l.symbol, 'USD') AS asset, l.bucket, l.direction, l.amount::text
FROM (
    SELECT DISTINCT e.shard, e.journal FROM orders o
    JOIN ledger_entries e ON e.at BETWEEN o.created_at - 86400000 AND o.updated_at + 86400000 AND e.shard = o.shard AND e.order_id = o.order_id
    WHERE o.order_id = $1
) j JOIN ledger l ON l.shard = j.shard AND l.journal = j.journal
ORDER BY l.at, l.journal, l.line
