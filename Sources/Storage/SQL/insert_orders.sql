-- New orders, accepted.
-- $1 order ids text[], $2 account ids text[], $3 keys uuid[], $4 symbols text[], $5 sides smallint[], $6 order types smallint[], $7 TIF smallint[],
-- $8 quantities bigint[], $9 limit prices bigint[], $10 stop prices bigint[], $11 hold prices bigint[], $12 held bigint[], $13 route_by bigint[],
-- $14 client timestamps bigint[], $15 quote references bigint[], $16 credential ids text[], $17 statuses smallint[], $18 created_at bigint[], $19 shards smallint[]
INSERT INTO orders (order_id, account_id, key, symbol, side, order_type, time_in_force, quantity, limit_price, stop_price, hold_price, held, route_by,
    client_timestamp, quote_reference, credential_id, status, created_at, shard, updated_at, in_doubt)
SELECT u.*, u.created_at, u.status = 9
FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::smallint[], $6::smallint[], $7::smallint[], $8::bigint[], $9::bigint[], $10::bigint[],
    $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::text[], $17::smallint[], $18::bigint[], $19::smallint[])
    AS u (order_id, account_id, key, symbol, side, order_type, time_in_force, quantity, limit_price, stop_price, hold_price, held, route_by,
        client_timestamp, quote_reference, credential_id, status, created_at, shard)
