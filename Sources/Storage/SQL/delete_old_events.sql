-- Ends the keeping of events: rows before a time that the venue's sender is past. In portions.
-- $1 before bigint, $2 limit bigint
WITH gone AS (
    DELETE FROM log l USING (
        SELECT l.shard, l.position FROM log l JOIN shards s ON s.shard = l.shard
        WHERE l.at < $1 AND l.position <= s.sent_log ORDER BY l.shard, l.position LIMIT $2
    ) old WHERE l.shard = old.shard AND l.position = old.position
    RETURNING l.account_id, l.event_number
), newest AS (SELECT account_id, max(event_number) AS event_number FROM gone GROUP BY account_id)
UPDATE accounts a SET oldest_event = greatest(a.oldest_event, n.event_number + 1) FROM newest n WHERE a.account_id = n.account_id
