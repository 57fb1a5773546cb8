-- The messages about an order that were given a number for the venue, while they are kept.
-- $1 order id text
SELECT session_id AS session, generation::text, number::text, utc_text(sent_at) AS sent_at, utc_text(resend_by) AS resend_by,
    '35=' || msg_type || '|' || fix_text(body) AS message
FROM fix_sent WHERE order_id = $1 ORDER BY session_id, generation, number
