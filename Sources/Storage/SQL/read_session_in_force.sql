-- The session by which orders go to the venue, whether a router speaks for it now, when this database was last recovered, if ever, and our next number.
SELECT session_id, lease_epoch, lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint, (SELECT max(at) FROM recoveries), next_out
FROM fix_sessions WHERE ended_at IS NULL
