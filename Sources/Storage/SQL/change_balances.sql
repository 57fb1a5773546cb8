-- Differences on balances that exist. The CHECK refuses what would fall below zero. LIMIT makes the planner begin with the differences, and look up
-- each balance by its key, whatever the statistics say.
-- $1 account ids text[], $2 assets text[], $3 available bigint[], $4 held bigint[], $5 owed bigint[], $6 settlement bigint[], $7 cost bigint[] (all differences)
UPDATE balances b SET
    available = b.available + d.available, held = b.held + d.held, owed = b.owed + d.owed, settlement = b.settlement + d.settlement, cost = b.cost + d.cost
FROM (
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
        AS c (account_id, asset, available, held, owed, settlement, cost)
    LIMIT cardinality($1)
) d
WHERE b.account_id = d.account_id AND b.asset = d.asset
