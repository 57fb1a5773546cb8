-- Accounts whose client has not pushed its timer back in time, the oldest first.
-- $1 now bigint, $2 limit bigint
SELECT account_id, deadline FROM cancel_timers WHERE deadline <= $1 ORDER BY deadline LIMIT $2
