-- The OrderMassStatusRequest of a comparison has its number.
-- $1 reconciliation id bigint, $2 session id text, $3 sent_at bigint, $4 generation bigint, $5 number bigint
UPDATE reconciliations SET sent_at = $3, generation = $4, number = $5, first_inbox = (SELECT next_inbox FROM fix_sessions WHERE session_id = $2)
WHERE reconciliation_id = $1
