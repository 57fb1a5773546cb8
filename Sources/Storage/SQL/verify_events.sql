-- Accounts whose kept events are not all of the numbers from the oldest kept to the last. Rows before that are on their way out.
-- $1 limit bigint
WITH kept AS (
    SELECT l.account_id, count(*) AS events, min(l.event_number) AS first, max(l.event_number) AS last, count(DISTINCT l.shard) AS shards,
        min(l.shard) AS shard
    FROM log l LEFT JOIN accounts a ON a.account_id = l.account_id
    WHERE a.oldest_event IS NULL OR l.event_number >= a.oldest_event GROUP BY l.account_id
)
SELECT COALESCE(a.account_id, k.account_id) AS account_id, a.oldest_event::text AS oldest_kept, a.last_event::text AS last_event,
    COALESCE(k.events, 0)::text AS events, k.first::text AS first, k.last::text AS last
FROM accounts a FULL JOIN kept k ON k.account_id = a.account_id
WHERE a.account_id IS NULL OR COALESCE(k.events, 0) <> a.last_event - a.oldest_event + 1
    OR (k.events > 0 AND (k.first <> a.oldest_event OR k.last <> a.last_event OR k.shards <> 1 OR k.shard <> a.shard))
ORDER BY 1 LIMIT $1
