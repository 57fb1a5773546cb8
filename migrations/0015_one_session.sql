-- Orders go to the venue by one session at a time: the log has one sender, an order is asked about where it was sent, and the inbox has one count, by which
-- reports are settled. Another session beside it took orders of the log from it, and its reports met the numbers of the first one's. Sessions of before are
-- kept, with their numbers and messages: an operator may change back (order-router change-session).
ALTER TABLE fix_sessions ADD COLUMN ended_at bigint;   -- since when orders go by another session

UPDATE fix_sessions SET ended_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
WHERE (SELECT count(*) FROM fix_sessions) > 1 AND session_id <> (
    SELECT s.session_id FROM fix_sessions s
    ORDER BY greatest(s.lease_until, (SELECT max(f.sent_at) FROM fix_sent f WHERE f.session_id = s.session_id),
        (SELECT max(i.received_at) FROM inbox i WHERE i.session_id = s.session_id)) DESC, s.session_id
    LIMIT 1);
UPDATE fix_sessions SET next_inbox = (SELECT max(next_inbox) FROM fix_sessions) WHERE ended_at IS NULL;

CREATE UNIQUE INDEX one_session_is_in_force ON fix_sessions ((true)) WHERE ended_at IS NULL;
