-- Fills that were booked, and what corrects them; an_execution_books_once refuses a second booking.
-- $1 at bigint, $2 shards smallint[], $3 venues text[], $4 trade dates text[], $5 ExecIDs text[], $6 account ids text[], $7 order ids text[], $8 symbols text[],
-- $9 sides smallint[], $10 quantities bigint[], $11 prices bigint[], $12 inbox ids bigint[], $13 kinds smallint[], $14 reversed ExecIDs text[]
INSERT INTO executions (at, shard, venue, trade_date, exec_id, account_id, order_id, symbol, side, quantity, price, inbox_id, kind, reversed_exec_id)
SELECT $1, u.* FROM unnest($2::smallint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::smallint[], $10::bigint[], $11::bigint[],
    $12::bigint[], $13::smallint[], $14::text[]) AS u
