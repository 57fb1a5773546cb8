-- Messages sent long ago, the oldest first: a resend so far back is a gap fill. What was not yet watched for silence stays.
-- $1 before bigint, $2 portion bigint
DELETE FROM fix_sent WHERE (session_id, generation, number) IN (
    SELECT o.session_id, o.generation, o.number
    FROM (SELECT session_id, generation, number, sent_at FROM fix_sent ORDER BY session_id, generation, number LIMIT $2) o
    JOIN fix_sessions s ON s.session_id = o.session_id
    WHERE o.sent_at < $1 AND (o.generation, o.number) <= (s.watched_generation, s.watched_number))
