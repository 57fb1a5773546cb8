-- Ends the keeping of a shard's oldest events, under the shard's lock: those before a time that the venue's sender is past. Looks at one portion only.
-- $1 shard smallint, $2 before bigint, $3 portion bigint
WITH oldest AS (
    SELECT position, at FROM log
    WHERE shard = $1 AND position <= (SELECT sent_log FROM shards WHERE shard = $1) ORDER BY position LIMIT $3
), gone AS (
    DELETE FROM log l USING oldest o WHERE l.shard = $1 AND l.position = o.position AND o.at < $2
    RETURNING l.account_id, l.event_number
), moved AS (
    UPDATE accounts a SET oldest_event = greatest(a.oldest_event, n.event_number + 1)
    FROM (SELECT account_id, max(event_number) AS event_number FROM gone GROUP BY account_id) n WHERE a.account_id = n.account_id
)
SELECT count(*) FROM gone
