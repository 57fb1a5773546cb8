-- The venue's Logon has a number that it had used before: no connection is tried in this generation any more. The lease must still be ours.
-- $1 session id text, $2 lease epoch bigint, $3 now bigint
UPDATE fix_sessions SET lost_at = $3 WHERE session_id = $1 AND lease_epoch = $2
