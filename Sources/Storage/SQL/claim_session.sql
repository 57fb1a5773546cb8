-- Makes this the session by which orders go to the venue, where there is none yet.
-- $1 session id text
INSERT INTO fix_sessions (session_id) SELECT $1 WHERE NOT EXISTS (SELECT FROM fix_sessions WHERE ended_at IS NULL)
ON CONFLICT DO NOTHING
