-- Balances that appear for the first time.
-- Parameters as change_balances, as first values.
INSERT INTO balances (account_id, asset, available, held, owed, settlement, cost)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
