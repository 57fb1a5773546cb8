-- Moves the session's numbers on. Another holder's epoch or a lease that has run out violates NOT NULL, and nothing is committed.
-- $1 session id text, $2 lease epoch, $3 generation, $4 next_out, $5 next_in, $6 inbox rows added, $7 now, all bigint
UPDATE fix_sessions SET
    generation = CASE WHEN lease_epoch = $2 AND lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint THEN $3::bigint END,
    began_at = CASE WHEN generation = $3 THEN COALESCE(began_at, $7) ELSE $7 END, lost_at = CASE WHEN generation = $3 THEN lost_at END,
    next_out = $4, next_in = $5, next_inbox = next_inbox + $6::bigint
WHERE session_id = $1
