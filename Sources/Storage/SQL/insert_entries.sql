-- Ledger entries; the trigger journal_debits_equal_credits refuses an unbalanced journal.
-- $1 at bigint, $2 shards smallint[], $3 journals bigint[], $4 lines smallint[], $5 causes smallint[],
-- $6 order ids text[] (null: of no order; '': of the order that the journal's first entry names), $7 account ids text[],
-- $8 assets text[], $9 buckets smallint[], $10 directions smallint[], $11 amounts bigint[]
INSERT INTO ledger_entries (at, shard, journal, line, cause, order_id, account_id, asset, bucket, direction, amount)
SELECT $1, u.* FROM unnest($2::smallint[], $3::bigint[], $4::smallint[], $5::smallint[], $6::text[], $7::text[], $8::text[], $9::smallint[], $10::smallint[],
    $11::bigint[]) AS u
