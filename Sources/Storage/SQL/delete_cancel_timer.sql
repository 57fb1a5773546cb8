-- Disarms an account's timer.
-- $1 account id text
DELETE FROM cancel_timers WHERE account_id = $1
