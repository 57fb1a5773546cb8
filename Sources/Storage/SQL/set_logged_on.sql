-- Whether the venue's session is up; new orders are refused (`venue_unavailable`) while it is not.
-- $1 session id text, $2 epoch bigint, $3 logged on boolean
UPDATE fix_sessions SET logged_on = $3 WHERE session_id = $1 AND lease_epoch = $2
