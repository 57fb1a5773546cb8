-- Ends the keeping of minutes, a portion at a time.
-- $1 minutes before this one int, $2 portion int
DELETE FROM candles_1m WHERE ctid = ANY (ARRAY(SELECT ctid FROM candles_1m WHERE minute < $1::int LIMIT $2::int))
