-- Whether some router holds the venue's session logged on, by this database's clock; and when this database was last recovered, if ever.
-- $1 session id text
SELECT logged_on AND lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint, (SELECT max(at) FROM recoveries)
FROM fix_sessions WHERE session_id = $1
