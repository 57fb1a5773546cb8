-- Orders do not go by this session any more. No row: a router speaks for it, or has since it was looked at.
-- $1 session id text, $2 its lease epoch then bigint, $3 now bigint
UPDATE fix_sessions SET ended_at = $3, logged_on = false
WHERE session_id = $1 AND ended_at IS NULL AND lease_epoch = $2 AND lease_until <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint
RETURNING next_inbox
