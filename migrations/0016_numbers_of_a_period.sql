-- A message that crosses the end of the session's hours makes its numbers no younger: what counts is when they began.
ALTER TABLE fix_sessions
    ADD COLUMN began_at bigint,                -- when this generation's numbers were first used
    ADD COLUMN lost_at bigint;                 -- when a Logon of the venue's came with a number that it had used before: it has lost its numbers
UPDATE fix_sessions s SET began_at = least(
    (SELECT sent_at FROM fix_sent f WHERE f.session_id = s.session_id AND f.generation = s.generation ORDER BY number LIMIT 1),
    (SELECT received_at FROM inbox i WHERE i.session_id = s.session_id AND i.generation = s.generation ORDER BY number LIMIT 1)
);
