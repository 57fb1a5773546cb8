-- Counters that a row has already reached: the next row would collide, or its number was given twice.
-- $1 limit bigint
WITH journals AS (SELECT shard, max(journal) + 1 AS reached FROM ledger_entries GROUP BY shard)
SELECT counter, value::text AS value, reached::text AS reached FROM (
    SELECT 'shard ' || s.shard || ' next_log' AS counter, s.next_log AS value, (SELECT max(position) + 1 FROM log l WHERE l.shard = s.shard) AS reached FROM shards s
    UNION ALL
    SELECT 'shard ' || s.shard || ' next_journal', s.next_journal, (SELECT reached FROM journals j WHERE j.shard = s.shard) FROM shards s
    UNION ALL
    SELECT 'shard ' || s.shard || ' next_log, by sent_log', s.next_log, s.sent_log + 1 FROM shards s
    UNION ALL
    SELECT 'session ' || f.session_id || ' next_out', f.next_out,
        (SELECT max(number) + 1 FROM fix_sent m WHERE m.session_id = f.session_id AND m.generation = f.generation) FROM fix_sessions f
    UNION ALL
    SELECT 'session ' || f.session_id || ' next_in', f.next_in,
        (SELECT max(number) + 1 FROM inbox i WHERE i.session_id = f.session_id AND i.generation = f.generation) FROM fix_sessions f
) counters
WHERE counters.value < counters.reached
ORDER BY counter LIMIT $1
