-- When the session's numbers of a generation were first used: a session with hours begins again in each of its periods. Absent: nobody knows.
-- $1 session id text, $2 generation bigint
SELECT began_at FROM fix_sessions WHERE session_id = $1 AND generation = $2
