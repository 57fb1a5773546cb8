-- Moves the accounts' event numbers on from the values they were read with; a stale base violates NOT NULL. LIMIT makes the planner begin with
-- the batch, and look up each account by its id, whatever the statistics say.
-- $1 account ids text[], $2 numbers read bigint[], $3 numbers now bigint[]
UPDATE accounts a SET last_event = CASE WHEN a.last_event = u.base THEN u.next END
FROM (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS c (account_id, base, next) LIMIT cardinality($1)
) u
WHERE a.account_id = u.account_id
