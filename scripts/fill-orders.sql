-- Defines fill_orders: plausible filled orders with their keys, executions and ledger entries, all consistent with one another, by the million.
-- For measuring on a database that has grown; see scripts/fill-orders. The functions live in the session's own temporary schema.

-- As AccountID.shard does: FNV-1a modulo 8, of which the lowest three bits suffice.
CREATE FUNCTION pg_temp.shard_of(account text) RETURNS smallint LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    hash integer := 5;
BEGIN
    FOR place IN 1..length(account) LOOP hash := ((hash # ascii(substr(account, place, 1))) * 3) & 7; END LOOP;
    RETURN hash;
END $$;

-- The accounts, each with cash for all that it will buy: a deposit from its house.
CREATE FUNCTION pg_temp.fill_accounts(accounts integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE filled_accounts AS
    SELECT number, 'fill_' || lpad(number::text, 6, '0') AS account_id, pg_temp.shard_of('fill_' || lpad(number::text, 6, '0')) AS shard,
        row_number() OVER (PARTITION BY pg_temp.shard_of('fill_' || lpad(number::text, 6, '0')) ORDER BY number) - 1 AS place
    FROM generate_series(0, accounts - 1) number;
    CREATE UNIQUE INDEX ON filled_accounts (number);
    ANALYZE filled_accounts;
    INSERT INTO accounts (account_id, shard, created_at) SELECT account_id, shard, 1 FROM filled_accounts;
    INSERT INTO ledger_entries (shard, at, journal, line, cause, account_id, asset, bucket, direction, amount)
    SELECT a.shard, 1, s.next_journal + a.place, l.line, 1, CASE l.line WHEN 0 THEN '~house-' || a.shard ELSE a.account_id END, '$',
        CASE l.line WHEN 0 THEN 4 ELSE 1 END, 1 + l.line, 10000000000000
    FROM filled_accounts a JOIN shards s ON s.shard = a.shard CROSS JOIN (VALUES (0::smallint), (1)) AS l (line);
    UPDATE shards s SET next_journal = next_journal + (SELECT count(*) FROM filled_accounts a WHERE a.shard = s.shard);
END $$;

-- Orders `first` to `last`, in the order of their times, spread evenly over `days` up to an hour ago if there are `total` of them.
CREATE FUNCTION pg_temp.fill_orders(first bigint, last bigint, total bigint, days integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    accounts bigint := (SELECT count(*) FROM filled_accounts);
    until bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint - 3600000;
BEGIN
    CREATE TEMP TABLE filling ON COMMIT DROP AS
    SELECT a.account_id, a.shard, t.at, s.next_journal + 2 * (n - first) AS journal, 1 + n % 100 AS quantity, 1000000 + n % 997 * 100 AS price,
        (lpad(to_hex(t.at), 12, '0') || '7' || substr(d.digest, 1, 3) || '8' || substr(d.digest, 4, 15))::uuid AS key,
        'ord_' || to_char(to_timestamp(t.at / 1000) AT TIME ZONE 'UTC', 'YYYYMMDD') || '_' || translate(substr(d.digest, 7, 26), '0189', 'wxyz') AS order_id,
        (ARRAY['NVDA', 'AAPL', 'MSFT', 'AMZN', 'GOOG', 'META', 'TSLA', 'JPM'])[1 + n % 8] AS symbol, 'E' || n AS exec_id
    FROM generate_series(first, last) n
    CROSS JOIN LATERAL (SELECT until - (total - n) * (days * 86400000::bigint) / total AS at) t
    CROSS JOIN LATERAL (SELECT md5('fill' || n || until) AS digest) d
    -- A step that shares no divisor with the number of accounts spreads neighbours over all of them.
    JOIN filled_accounts a ON a.number = n * 7919 % accounts
    JOIN shards s ON s.shard = a.shard;

    INSERT INTO idempotency_keys (account_id, key, created_at, outcome, fingerprint, order_id, http_status, answer)
    SELECT account_id, key, at, 1, sha256(order_id::bytea), order_id, 201,
        -- As PackedAnswer writes it.
        '\x010002'::bytea || convert_to(format(E'%s\x03%s\x05%s\x07%s\x08%s}',
            symbol, quantity, (price / 10000.0)::numeric(20, 2), (price * quantity / 10000.0)::numeric(20, 2), at), 'UTF8')
    FROM filling;
    INSERT INTO orders (order_id, account_id, key, symbol, side, order_type, time_in_force, quantity, limit_price, hold_price, held, filled_quantity,
        filled_value, route_by, client_timestamp, quote_reference, routed_at, credential_id, status, created_at, updated_at, shard)
    SELECT order_id, account_id, key, symbol, 1, 2, 0, quantity, price, price, 0, quantity, quantity * (price - 100), at + 23400000, at - 20, at - 300, at + 8,
        'cred_' || substr(order_id, 14), 5, at, at + 30, shard
    FROM filling;
    INSERT INTO executions (shard, at, venue, trade_date, exec_id, account_id, order_id, symbol, side, quantity, price, inbox_id)
    SELECT shard, at + 30, 'EXCH', to_char(to_timestamp(at / 1000) AT TIME ZONE 'UTC', 'YYYYMMDD'), exec_id || until, account_id, order_id, symbol, 1, quantity,
        price - 100, 1
    FROM filling;
    -- As a BUY writes them that is filled a cent below its limit: accept holds; the fill takes the hold, returns what is left of it, settles both assets.
    INSERT INTO ledger_entries (shard, at, journal, line, cause, order_id, account_id, asset, bucket, direction, amount)
    SELECT f.shard, f.at + e.later, f.journal + e.next, e.line, e.cause, CASE e.line WHEN 0 THEN f.order_id ELSE '' END, CASE e.bucket WHEN 4 THEN '~house-' || f.shard ELSE f.account_id END,
        CASE e.kind WHEN 'cash' THEN '$' ELSE f.symbol END, e.bucket, e.direction,
        CASE e.what WHEN 'hold' THEN f.quantity * f.price WHEN 'value' THEN f.quantity * (f.price - 100) WHEN 'left' THEN f.quantity * 100
            ELSE f.quantity * 10000 END
    FROM filling f CROSS JOIN (VALUES
        (0, 0, 0::smallint, 2::smallint, 'cash', 1::smallint, 1::smallint, 'hold'), (0, 0, 1, 2, 'cash', 2, 2, 'hold'),
        (1, 30, 0, 3, 'cash', 2, 1, 'hold'), (1, 30, 1, 3, 'cash', 1, 2, 'left'), (1, 30, 2, 3, 'cash', 4, 2, 'value'),
        (1, 30, 3, 3, 'shares', 4, 1, 'shares'), (1, 30, 4, 3, 'shares', 1, 2, 'shares')
    ) AS e (next, later, line, cause, kind, bucket, direction, what);
    UPDATE shards SET next_journal = next_journal + 2 * (last - first + 1);
END $$;

-- The balances that these entries sum to.
CREATE FUNCTION pg_temp.fill_balances() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO balances AS b (account_id, asset, available, held, owed, settlement, cost)
    SELECT account_id, asset, COALESCE(sum(signed) FILTER (WHERE bucket = 1), 0), COALESCE(sum(signed) FILTER (WHERE bucket = 2), 0), 0,
        COALESCE(sum(signed) FILTER (WHERE bucket = 4), 0), 0
    FROM (
        SELECT account_id, asset, bucket, CASE direction WHEN 2 THEN amount ELSE -amount END AS signed
        FROM ledger_entries WHERE account_id LIKE '~house-%' OR account_id IN (SELECT account_id FROM filled_accounts)
    ) entries
    GROUP BY account_id, asset
    ON CONFLICT (account_id, asset) DO UPDATE SET available = EXCLUDED.available, held = EXCLUDED.held, settlement = EXCLUDED.settlement;
END $$;
