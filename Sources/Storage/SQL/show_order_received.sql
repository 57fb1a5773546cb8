-- What the venue told us about an order, as it came, while it is kept.
-- $1 order id text
SELECT i.inbox_id::text, i.session_id AS session, i.generation::text, i.number::text, utc_text(i.received_at) AS received_at,
    CASE WHEN p.inbox_id IS NOT NULL THEN 'parked: ' || p.why WHEN i.inbox_id <= s.settled_inbox THEN 'settled' ELSE 'waits' END AS settled,
    fix_text(i.message) AS message
FROM inbox i JOIN shards s ON s.shard = i.shard LEFT JOIN parked_reports p ON p.inbox_id = i.inbox_id
WHERE i.order_id = $1 ORDER BY i.inbox_id
