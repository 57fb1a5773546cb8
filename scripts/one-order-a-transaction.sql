-- The usual way to accept an order, for comparison: a transaction of six statements for each, over the same tables as order-router's.
-- For pgbench; scripts/bench runs it with 16 connections. The two sequences stand for what an application would use: numbers that nobody waits for.
-- pgbench's own :prefix and :accounts name the accounts that load-generator prepare has made.
\set account random(0, :accounts - 1)
\set quantity random(1, 100)
\set hold :quantity * 1255000
BEGIN;
WITH new AS (SELECT gen_random_uuid() AS id)
INSERT INTO idempotency_keys (account_id, key, created_at, outcome, fingerprint, order_id, http_status, answer)
SELECT (:prefix::text || :account), id, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 1, sha256(id::text::bytea), 'ord_' || id, 201,
    convert_to('{"order_id":"ord_' || id || '","status":"ACCEPTED","symbol":"NVDA","side":"BUY","quantity":100,"limit_price":125.50,"reserved_funds_usd":12550.00,"created_at":1773648000180}', 'UTF8')
FROM new
ON CONFLICT DO NOTHING
RETURNING key AS key, order_id AS order, created_at AS now \gset
SELECT available AS available FROM balances WHERE account_id = (:prefix::text || :account) AND asset = '$' FOR UPDATE \gset
UPDATE balances SET available = available - :hold::bigint, held = held + :hold::bigint WHERE account_id = (:prefix::text || :account) AND asset = '$';
INSERT INTO orders (order_id, account_id, key, symbol, side, order_type, time_in_force, quantity, limit_price, hold_price, held, route_by,
    client_timestamp, quote_reference, credential_id, status, created_at, updated_at, shard)
VALUES (:order::text, (:prefix::text || :account), :key::uuid, 'NVDA', 1, 2, 0, :quantity::bigint, 1255000, 1255000, :hold::bigint, :now::bigint + 23400000,
    :now::bigint, :now::bigint, 'cred_usual', 1, :now::bigint, :now::bigint, (:account::integer % 8)::smallint);
WITH number AS (SELECT nextval('usual_journals') AS journal)
INSERT INTO ledger_entries (shard, at, journal, line, cause, order_id, account_id, asset, bucket, direction, amount)
SELECT :account::integer % 8, :now::bigint, journal, line, 2, :order::text, (:prefix::text || :account), '$', line, 3 - line, :hold::bigint
FROM number, (VALUES (1), (2)) AS lines (line);
INSERT INTO log (shard, at, position, account_id, event_number, type, order_id, status, filled_quantity, filled_value, held)
SELECT :account::integer % 8, :now::bigint, number, (:prefix::text || :account), number, 1, :order::text, 1, 0, 0, :hold::bigint
FROM nextval('usual_positions') AS number;
COMMIT;
