-- Ends every leg: the counters move on from the values they were read with; a stale base violates NOT NULL and nothing is committed.
-- $1 shards smallint[], $2 next_log read, $3 next_log, $4 next_journal read, $5 next_journal, $6 sent_log, $7 settled_inbox, $8 replays answered, all bigint[]
UPDATE shards s SET
    next_log = CASE WHEN s.next_log = u.log_read THEN u.next_log END,
    next_journal = CASE WHEN s.next_journal = u.journal_read THEN u.next_journal END,
    sent_log = u.sent_log, settled_inbox = u.settled_inbox, replays = s.replays + u.replays
FROM unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
    AS u (shard, log_read, next_log, journal_read, next_journal, sent_log, settled_inbox, replays)
WHERE s.shard = u.shard
