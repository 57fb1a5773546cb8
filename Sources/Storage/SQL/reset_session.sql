-- Begins the session's numbers again. The lease stays with its holder, whose old epoch commits nothing any more.
-- $1 session id text
UPDATE fix_sessions SET generation = generation + 1, next_out = 1, next_in = 1, lease_epoch = lease_epoch + 1, logged_on = false, lost_at = NULL
WHERE session_id = $1 AND ended_at IS NULL
RETURNING generation
