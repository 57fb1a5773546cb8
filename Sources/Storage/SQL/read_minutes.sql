-- The newest minutes of a symbol within a stretch of time, the newest first.
-- $1 symbol text, $2 first minute int, $3 minute behind the last int, $4 limit int
SELECT minute, open, high, low, close, volume, source FROM candles_1m
WHERE symbol = $1 AND minute >= $2::int AND minute < $3::int ORDER BY minute DESC LIMIT $4::int
