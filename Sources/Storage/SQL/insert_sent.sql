-- Messages that have their sequence number; committed before the socket sees a byte.
-- $1 session id text, $2 generation bigint, $3 sent_at bigint[], $4 numbers bigint[], $5 types text[], $6 order ids text[], $7 shards smallint[], $8 resend_by bigint[], $9 bodies bytea[]
INSERT INTO fix_sent (session_id, generation, sent_at, number, msg_type, order_id, shard, resend_by, body)
SELECT $1, $2, u.* FROM unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::smallint[], $8::bigint[], $9::bytea[]) AS u
