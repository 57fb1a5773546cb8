-- Minutes that a router has seen, merged with what other routers saw of the same minute of the same feed: the open of the earliest, the greatest high, the
-- least low, the close of the latest, and the greatest volume. The same rows twice change nothing. What was loaded stays. Each minute of a symbol stands
-- there once, and the rows are in order of symbol and minute, so that two routers lock them in the same order.
-- $1 symbols text[], $2 minutes int[], $3 opens bigint[], $4 highs bigint[], $5 lows bigint[], $6 closes bigint[], $7 volumes bigint[],
-- $8 opened_at int[], $9 closed_at int[]
INSERT INTO candles_1m AS c (symbol, minute, open, high, low, close, volume, opened_at, closed_at, source)
SELECT u.*, 1
FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::int[], $9::int[])
    AS u (symbol, minute, open, high, low, close, volume, opened_at, closed_at)
ON CONFLICT (symbol, minute) DO UPDATE SET
    open = CASE WHEN excluded.opened_at < c.opened_at THEN excluded.open ELSE c.open END,
    high = greatest(c.high, excluded.high),
    low = least(c.low, excluded.low),
    close = CASE WHEN excluded.closed_at > c.closed_at THEN excluded.close ELSE c.close END,
    volume = greatest(c.volume, excluded.volume),
    opened_at = least(c.opened_at, excluded.opened_at),
    closed_at = greatest(c.closed_at, excluded.closed_at)
WHERE c.source = 1 AND (
    excluded.opened_at < c.opened_at OR excluded.high > c.high OR excluded.low < c.low OR excluded.closed_at > c.closed_at OR excluded.volume > c.volume)
