-- Journals that do not sum to zero for an asset.
-- $1 limit bigint
SELECT shard::text AS shard, journal::text AS journal, asset,
    sum(CASE direction WHEN 2 THEN amount::numeric ELSE -amount::numeric END)::text AS credits_less_debits
FROM ledger_entries
GROUP BY ledger_entries.shard, ledger_entries.journal, asset
HAVING sum(CASE direction WHEN 2 THEN amount::numeric ELSE -amount::numeric END) <> 0
ORDER BY ledger_entries.shard, ledger_entries.journal, asset LIMIT $1
