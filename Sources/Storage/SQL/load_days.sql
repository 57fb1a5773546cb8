-- Trading days from an operator: they take the place of what is there, and stay. Each day of a symbol stands there once.
-- $1 symbols text[], $2 days since 1970-01-01 int[], $3 opens bigint[], $4 highs bigint[], $5 lows bigint[], $6 closes bigint[], $7 volumes bigint[],
-- $8 source smallint
INSERT INTO candles_1d (symbol, day, open, high, low, close, volume, source)
SELECT u.symbol, DATE '1970-01-01' + u.day, u.open, u.high, u.low, u.close, u.volume, $8::smallint
FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
    AS u (symbol, day, open, high, low, close, volume)
ON CONFLICT (symbol, day) DO UPDATE SET open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close,
    volume = excluded.volume, source = excluded.source
