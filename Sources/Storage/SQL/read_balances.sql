-- The balances that a batch can touch. Serialised by the shard's lock; absent rows are zero.
-- $1 account ids text[], $2 assets text[], pairwise and distinct
SELECT b.account_id, b.asset, b.available, b.held, b.owed, b.settlement, b.cost
FROM unnest($1::text[], $2::text[]) AS wanted (account_id, asset)
JOIN balances b ON b.account_id = wanted.account_id AND b.asset = wanted.asset
