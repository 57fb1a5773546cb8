-- Gives the session up at once, so that a successor need not wait the lease out.
-- $1 session id text, $2 epoch bigint
UPDATE fix_sessions SET lease_until = 0, logged_on = false WHERE session_id = $1 AND lease_epoch = $2
