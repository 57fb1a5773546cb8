-- The state of the credentials that signed a batch, read in the accepting transaction: a revocation holds on every router at once.
-- OFFSET 0 keeps each look-up one by the whole key, whatever the statistics say.
-- $1 account ids text[], $2 credential ids text[], pairwise and distinct
SELECT c.account_id, c.credential_id, c.state
FROM unnest($1::text[], $2::text[]) AS wanted (account_id, credential_id)
CROSS JOIN LATERAL (SELECT * FROM credentials WHERE account_id = wanted.account_id AND credential_id = wanted.credential_id OFFSET 0) c
