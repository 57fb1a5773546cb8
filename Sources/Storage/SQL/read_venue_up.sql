-- Whether some router holds the venue's session logged on, by this database's clock.
-- $1 session id text
SELECT logged_on AND lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM fix_sessions WHERE session_id = $1
