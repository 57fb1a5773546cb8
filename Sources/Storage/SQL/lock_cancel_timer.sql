-- Takes a timer that has run out, unless it was pushed back or disarmed meanwhile; before its account's shard, as whoever pushes it back takes no shard.
-- $1 account id text, $2 deadline as read bigint
SELECT account_id FROM cancel_timers WHERE account_id = $1 AND deadline = $2 FOR UPDATE
