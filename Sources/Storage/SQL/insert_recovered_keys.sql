-- Keys to be asked about at the venue.
-- $1 at bigint, $2 account ids text[], $3 keys uuid[], $4 shards smallint[], $5 order ids text[], $6 symbols text[], $7 sides smallint[]
INSERT INTO recovered_keys (created_at, account_id, key, shard, order_id, symbol, side)
SELECT $1, u.* FROM unnest($2::text[], $3::uuid[], $4::smallint[], $5::text[], $6::text[], $7::smallint[]) AS u
