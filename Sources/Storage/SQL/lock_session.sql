-- Takes the FIX session's row, last of all locks. The lease must still be ours.
-- $1 session id text
SELECT generation, next_out, next_in, next_inbox, lease_epoch, lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint
FROM fix_sessions WHERE session_id = $1 FOR UPDATE
