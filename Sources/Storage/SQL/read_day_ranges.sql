-- Open, high and low of a stretch of minutes, for a router that starts in the middle of a day.
-- $1 symbols text[], $2 first minute int, $3 minute behind the last int
SELECT s.symbol, m.open, m.high, m.low
FROM unnest($1::text[]) AS s (symbol)
CROSS JOIN LATERAL (
    SELECT (array_agg(c.open ORDER BY c.minute))[1] AS open, max(c.high) AS high, min(c.low) AS low
    FROM candles_1m c WHERE c.symbol = s.symbol AND c.minute >= $2::int AND c.minute < $3::int
    HAVING count(*) > 0
) m
