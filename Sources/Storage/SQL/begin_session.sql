-- Orders go by this session from now on. Its numbers go on where they ended, if it was in force before; the inbox counts on from the other one's reports,
-- behind all that is settled.
-- $1 session id text, $2 next inbox id bigint
INSERT INTO fix_sessions AS s (session_id, next_inbox) VALUES ($1, $2)
ON CONFLICT (session_id) DO UPDATE SET
    ended_at = NULL, next_inbox = greatest(s.next_inbox, EXCLUDED.next_inbox), lease_epoch = s.lease_epoch + 1, lease_until = 0, logged_on = false
