-- Keys of a batch that were asked about at the venue after a recovery, with its word. OFFSET 0 keeps each look-up one by the whole key.
-- $1 account ids text[], $2 keys uuid[], pairwise and distinct
SELECT r.account_id, r.key, r.known
FROM unnest($1::text[], $2::uuid[]) AS wanted (account_id, key)
CROSS JOIN LATERAL (SELECT * FROM recovered_keys WHERE account_id = wanted.account_id AND key = wanted.key OFFSET 0) r
