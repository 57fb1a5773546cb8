-- Balances that are not the sums of their entries; of parts that were detached, by the sums that were carried forward. What is owed is stored above zero: debits less credits.
-- $1 limit bigint
WITH sums AS (
    SELECT account_id, asset, bucket, sum(amount) AS amount FROM (
        SELECT account_id, asset, bucket, CASE WHEN (direction = 2) <> (bucket = 3) THEN amount::numeric ELSE -amount::numeric END AS amount
        FROM ledger_entries
        UNION ALL SELECT account_id, asset, bucket, amount FROM carried_entries WHERE part NOT IN (SELECT part FROM parts)
    ) entries GROUP BY account_id, asset, bucket
), stored AS (
    SELECT b.account_id, b.asset, s.bucket, s.amount::numeric AS amount
    FROM balances b CROSS JOIN LATERAL (VALUES (1::smallint, b.available), (2::smallint, b.held), (3::smallint, b.owed), (4::smallint, b.settlement))
        AS s (bucket, amount)
)
SELECT COALESCE(s.account_id, b.account_id) AS account_id, COALESCE(s.asset, b.asset) AS asset,
    CASE COALESCE(s.bucket, b.bucket) WHEN 1 THEN 'available' WHEN 2 THEN 'held' WHEN 3 THEN 'owed' ELSE 'settlement' END AS bucket,
    COALESCE(b.amount, 0)::text AS balance, COALESCE(s.amount, 0)::text AS sum_of_entries
FROM sums s FULL JOIN stored b ON b.account_id = s.account_id AND b.asset = s.asset AND b.bucket = s.bucket
WHERE COALESCE(s.amount, 0) <> COALESCE(b.amount, 0)
ORDER BY 1, 2, 3 LIMIT $1
