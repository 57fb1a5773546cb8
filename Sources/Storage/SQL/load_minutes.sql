-- Minutes from an operator: they take the place of what is there. Each minute of a symbol stands there once.
-- $1 symbols text[], $2 minutes int[], $3 opens bigint[], $4 highs bigint[], $5 lows bigint[], $6 closes bigint[], $7 volumes bigint[], $8 source smallint
INSERT INTO candles_1m (symbol, minute, open, high, low, close, volume, opened_at, closed_at, source)
SELECT u.*, 0, 59999, $8::smallint
FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
    AS u (symbol, minute, open, high, low, close, volume)
ON CONFLICT (symbol, minute) DO UPDATE SET open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close,
    volume = excluded.volume, opened_at = excluded.opened_at, closed_at = excluded.closed_at, source = excluded.source
