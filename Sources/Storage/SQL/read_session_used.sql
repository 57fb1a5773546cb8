-- When the session's numbers of a generation were last used, as far as kept messages tell: a session with hours begins again in each of its periods.
-- $1 session id text, $2 generation bigint
SELECT greatest(
    (SELECT sent_at FROM fix_sent WHERE session_id = $1 AND generation = $2 ORDER BY number DESC LIMIT 1),
    (SELECT received_at FROM inbox WHERE session_id = $1 AND generation = $2 ORDER BY number DESC LIMIT 1)
)
