-- The newest trading days of a symbol within a stretch of time, the newest first.
-- $1 symbol text, $2 first day since 1970-01-01 int, $3 day behind the last int, $4 limit int
SELECT day - DATE '1970-01-01', open, high, low, close, volume, source FROM candles_1d
WHERE symbol = $1 AND day >= DATE '1970-01-01' + $2::int AND day < DATE '1970-01-01' + $3::int ORDER BY day DESC LIMIT $4::int
