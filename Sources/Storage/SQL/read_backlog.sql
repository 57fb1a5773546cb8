-- For /metrics: rows waiting for each leg, and since when the oldest of them waits (0 = none waits); for how many days parts are made ahead.
SELECT (SELECT COALESCE(sum(next_log - 1 - sent_log), 0)::bigint FROM shards),
    (SELECT COALESCE(min(l.at), 0)::bigint FROM shards s JOIN log l ON l.shard = s.shard AND l.position = s.sent_log + 1),
    (SELECT count(*) FROM shards s JOIN inbox i ON i.shard = s.shard AND i.inbox_id > s.settled_inbox),
    (SELECT COALESCE(min(i.received_at), 0)::bigint FROM shards s JOIN inbox i ON i.shard = s.shard AND i.inbox_id > s.settled_inbox),
    (SELECT count(*) FROM parked_reports WHERE resolved_at IS NULL), (SELECT count(*) FROM alarms),
    (SELECT min(begins) - (now() AT TIME ZONE 'UTC')::date FROM parts WHERE bound_to IS NULL)
