-- Ends every leg: the counters move on from the values they were read with; a stale base violates NOT NULL and nothing is committed.
-- $1 shard smallint, $2 next_log read, $3 next_log, $4 next_journal read, $5 next_journal, $6 sent_log, $7 settled_inbox, $8 replays answered, all bigint
UPDATE shards SET
    next_log = CASE WHEN next_log = $2 THEN $3::bigint END,
    next_journal = CASE WHEN next_journal = $4 THEN $5::bigint END,
    sent_log = $6, settled_inbox = $7, replays = replays + $8::bigint
WHERE shard = $1
