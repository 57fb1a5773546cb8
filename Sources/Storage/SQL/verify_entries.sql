-- Entries that no journal writes: not above zero, in a bucket that the account has not, of nobody, or outside their account's shard.
-- $1 limit bigint
SELECT e.shard::text AS shard, e.journal::text AS journal, e.line::text AS line, e.account_id, e.asset, e.amount::text AS amount,
    CASE WHEN e.amount <= 0 THEN 'not above zero' WHEN e.account_id NOT LIKE '~house-%' AND a.account_id IS NULL THEN 'no such account'
        WHEN (e.bucket = 4) <> (e.account_id LIKE '~house-%') THEN 'not a bucket of this account' ELSE 'not the shard of its account' END AS why
FROM ledger_entries e LEFT JOIN accounts a ON a.account_id = e.account_id
WHERE e.amount <= 0 OR e.direction NOT IN (1, 2) OR e.bucket NOT IN (1, 2, 3, 4)
    OR (e.bucket = 4) <> (e.account_id LIKE '~house-%')
    OR CASE WHEN e.account_id LIKE '~house-%' THEN e.account_id <> '~house-' || e.shard ELSE a.shard IS DISTINCT FROM e.shard END
ORDER BY e.shard, e.journal, e.line LIMIT $1
