-- Moves the accounts' event numbers on from the values they were read with; a stale base violates NOT NULL.
-- $1 account ids text[], $2 numbers read bigint[], $3 numbers now bigint[]
UPDATE accounts a SET last_event = CASE WHEN a.last_event = u.base THEN u.next END
FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS u (account_id, base, next)
WHERE a.account_id = u.account_id
