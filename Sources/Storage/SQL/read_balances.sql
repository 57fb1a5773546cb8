-- The balances that a batch can touch. Serialised by the shard's lock; absent rows are zero. OFFSET 0 keeps each look-up one by the
-- whole key, whatever the statistics say.
-- $1 account ids text[], $2 assets text[], pairwise and distinct
SELECT b.account_id, b.asset, b.available, b.held, b.owed, b.settlement, b.cost
FROM unnest($1::text[], $2::text[]) AS wanted (account_id, asset)
CROSS JOIN LATERAL (SELECT * FROM balances WHERE account_id = wanted.account_id AND asset = wanted.asset OFFSET 0) b
