-- Messages to resend.
-- $1 session id text, $2 generation bigint, $3 from number bigint, $4 through number bigint, $5 at most bigint
SELECT number, msg_type, sent_at, resend_by, body, order_id, shard FROM fix_sent
WHERE session_id = $1 AND generation = $2 AND number BETWEEN $3 AND $4 ORDER BY number LIMIT $5
