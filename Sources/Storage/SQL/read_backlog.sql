-- For /metrics: rows waiting for each leg.
SELECT (SELECT COALESCE(sum(next_log - 1 - sent_log), 0)::bigint FROM shards),
    (SELECT count(*) FROM shards s JOIN inbox i ON i.shard = s.shard AND i.inbox_id > s.settled_inbox),
    (SELECT COALESCE(min(i.received_at), 0)::bigint FROM shards s JOIN inbox i ON i.shard = s.shard AND i.inbox_id > s.settled_inbox),
    (SELECT count(*) FROM parked_reports WHERE resolved_at IS NULL), (SELECT count(*) FROM alarms)
