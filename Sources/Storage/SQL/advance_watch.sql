-- Messages of a session up to here have been looked at for silence. Never back: another router may be ahead.
-- $1 session id text, $2 generation bigint, $3 number bigint
UPDATE fix_sessions SET watched_generation = $2, watched_number = $3
WHERE session_id = $1 AND (watched_generation, watched_number) < ($2, $3)
