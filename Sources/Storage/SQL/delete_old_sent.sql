-- Messages sent long ago: a resend so far back is a gap fill.
-- $1 before bigint, $2 limit bigint
DELETE FROM fix_sent WHERE (session_id, generation, number) IN (
    SELECT session_id, generation, number FROM fix_sent WHERE sent_at < $1 ORDER BY session_id, generation, number LIMIT $2)
