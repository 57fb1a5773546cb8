-- Begins a recovered history: event ids of a new generation, so that clients reload; our messages numbered from above all that the venue has received;
-- cancels and replaces of open orders, and comparisons with the venue, numbered past those that were lost: it sends the answers to them again. No row: a router
-- speaks for the session.
-- $1 session id text, $2 next_out bigint or null (then $3 more than it is), $3 bigint, $4 now bigint, $5 by whom text, $6 cancels skipped smallint,
-- $7 unanswered_in of orders that the venue may have spoken of in the lost time bigint
WITH session AS (
    UPDATE fix_sessions SET next_out = COALESCE($2::bigint, next_out + $3::bigint), lease_epoch = lease_epoch + 1, lease_until = 0, logged_on = false, lost_at = NULL
    WHERE session_id = $1 AND ended_at IS NULL AND lease_until <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint AND COALESCE($2::bigint, next_out) >= next_out
    RETURNING next_out, next_in
), events AS (
    UPDATE event_generation SET generation = greatest(generation + 1, $4::bigint / 1000) WHERE EXISTS (SELECT FROM session) RETURNING generation
), skipped AS (
    -- Of those that the venue had spoken of it stays known. Of all others nobody knows whether it has since.
    UPDATE orders SET unanswered_in = CASE WHEN unanswered_in = 0 THEN 0 ELSE $7::bigint END, cancels = least(cancels + $6::smallint, 32000), replaces = least(COALESCE(replaces, 0) + $6::smallint, 32000)
    WHERE status IN (1, 2, 3, 4, 9) AND EXISTS (SELECT FROM session) RETURNING order_id
), outbox AS (
    -- Whatever waits in the log is asked for anew by what follows: every order that waits for its number is UNKNOWN by now.
    UPDATE shards SET sent_log = next_log - 1 WHERE EXISTS (SELECT FROM session)
), compared AS (
    UPDATE reconciliations SET ended_at = $4, outcome = 'unanswered', detail = 'lost in a restore' WHERE ended_at IS NULL AND EXISTS (SELECT FROM session)
), noted AS (
    INSERT INTO recoveries (at, by_whom) SELECT $4, $5 FROM session RETURNING at
)
SELECT s.next_out, s.next_in, e.generation, (SELECT count(*) FROM skipped), (SELECT count(*) FROM noted),
    setval(pg_get_serial_sequence('reconciliations', 'reconciliation_id'), nextval(pg_get_serial_sequence('reconciliations', 'reconciliation_id')) + $3::bigint)
FROM session s CROSS JOIN events e
