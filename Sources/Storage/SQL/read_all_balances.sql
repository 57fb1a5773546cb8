-- Everything an account has.
-- $1 account id text
SELECT account_id, asset, available, held, owed, settlement, cost FROM balances WHERE account_id = $1 ORDER BY asset
