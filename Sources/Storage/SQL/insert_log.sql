-- The committed log: outbox and event stream.
-- $1 at bigint, $2 shards smallint[], $3 positions bigint[], $4 account ids text[], $5 event numbers bigint[], $6 types smallint[], $7 order ids text[],
-- $8 statuses smallint[], $9 filled quantities bigint[], $10 filled values bigint[], $11 held bigint[], $12 reasons text[], $13 last quantities bigint[], $14 last prices bigint[],
-- $15 quantities bigint[], $16 limit prices bigint[], $17 stop prices bigint[]: of orders that a replace was asked for
INSERT INTO log (at, shard, position, account_id, event_number, type, order_id, status, filled_quantity, filled_value, held, reason, last_quantity, last_price,
    quantity, limit_price, stop_price)
SELECT $1, u.* FROM unnest($2::smallint[], $3::bigint[], $4::text[], $5::bigint[], $6::smallint[], $7::text[], $8::smallint[], $9::bigint[], $10::bigint[], $11::bigint[],
    $12::text[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[]) AS u
