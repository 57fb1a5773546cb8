-- A trading day of each symbol, made of the minutes of its regular session. May be done again when minutes came late; what was loaded stays.
-- $1 symbols text[], $2 day since 1970-01-01 int, $3 first minute int, $4 minute behind the last int
INSERT INTO candles_1d AS d (symbol, day, open, high, low, close, volume, source)
SELECT s.symbol, DATE '1970-01-01' + $2::int, m.open, m.high, m.low, m.close, m.volume, 1
FROM unnest($1::text[]) AS s (symbol)
CROSS JOIN LATERAL (
    SELECT (array_agg(c.open ORDER BY c.minute))[1] AS open, max(c.high) AS high, min(c.low) AS low,
        (array_agg(c.close ORDER BY c.minute DESC))[1] AS close, sum(c.volume)::bigint AS volume
    FROM candles_1m c WHERE c.symbol = s.symbol AND c.minute >= $3::int AND c.minute < $4::int
    HAVING count(*) > 0
) m
ON CONFLICT (symbol, day) DO UPDATE SET open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close, volume = excluded.volume
WHERE d.source = 1 AND (d.open, d.high, d.low, d.close, d.volume) <> (excluded.open, excluded.high, excluded.low, excluded.close, excluded.volume)
