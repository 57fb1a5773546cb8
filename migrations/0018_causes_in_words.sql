-- The ledger in words, for people: journals by which a replace holds more, or a trade is taken back, were shown as releases.
CREATE OR REPLACE VIEW ledger AS
SELECT shard, journal, line, to_timestamp(at / 1000.0) AS at, account_id,
    CASE cause WHEN 1 THEN 'deposit' WHEN 2 THEN 'accept' WHEN 3 THEN 'fill' WHEN 4 THEN 'release' WHEN 5 THEN 'replace' WHEN 6 THEN 'bust' END AS cause,
    CASE direction WHEN 1 THEN 'DEBIT' ELSE 'CREDIT' END AS direction,
    CASE asset WHEN '$' THEN 'CASH' ELSE 'EQUITY' END AS kind,
    NULLIF(asset, '$') AS symbol,
    CASE bucket WHEN 1 THEN 'available' WHEN 2 THEN 'held' WHEN 3 THEN 'owed' ELSE 'settlement' END AS bucket,
    (amount / 10000.0)::numeric(24, 4) AS amount, order_id
FROM ledger_entries;
