-- The accounts of a batch: their newest event's number, and whether they owe anything.
-- $1 account ids text[]
SELECT a.account_id, a.last_event, EXISTS (SELECT FROM balances b WHERE b.account_id = a.account_id AND b.owed > 0)
FROM accounts a WHERE a.account_id = ANY ($1)
