-- Events whose place in their shard's log is not their place among their account's events: the venue's sender and the streams read by place.
-- $1 limit bigint
SELECT shard::text AS shard, position::text AS position, account_id, event_number::text AS event, event_before::text AS event_before
FROM (
    SELECT shard, position, account_id, event_number, lag(event_number) OVER (PARTITION BY account_id ORDER BY position) AS event_before FROM log
) l
WHERE l.event_number <= l.event_before
ORDER BY l.shard, l.position LIMIT $1
