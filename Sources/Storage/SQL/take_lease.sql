-- Makes this router the holder of the venue's session, if nobody else holds it and orders go by it. Creates the session's row the first time.
-- A new holder begins a new epoch; the holder itself renews within its own, or, after its connection was lost, begins a new one at once: it has no
-- other thread that speaks, and what its old connection has yet to commit fails on the epoch. No row back = somebody else holds it, or another session is in
-- force.
-- $1 session id text, $2 holder text, $3 epoch held bigint (0 = none), $4 duration ms bigint
INSERT INTO fix_sessions AS s (session_id, lease_holder, lease_epoch, lease_until)
SELECT $1, $2, 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $4
WHERE NOT EXISTS (SELECT FROM fix_sessions WHERE ended_at IS NULL AND session_id <> $1)
ON CONFLICT (session_id) DO UPDATE SET
    lease_epoch = CASE WHEN s.lease_holder = $2 AND s.lease_epoch = $3 AND s.lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        THEN s.lease_epoch ELSE s.lease_epoch + 1 END,
    logged_on = s.logged_on AND s.lease_holder = $2 AND s.lease_epoch = $3 AND s.lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    lease_holder = $2,
    lease_until = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $4
WHERE s.ended_at IS NULL AND (s.lease_holder = $2 OR s.lease_until <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
RETURNING lease_epoch, generation, next_out, next_in, lost_at
