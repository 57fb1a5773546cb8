-- Generation, oldest and newest event of an account.
-- $1 account id text
SELECT g.generation, a.oldest_event, a.last_event FROM accounts a CROSS JOIN event_generation g WHERE a.account_id = $1
