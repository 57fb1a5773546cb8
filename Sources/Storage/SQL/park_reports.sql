-- Keeps reports that could not be booked, with their whole message.
-- $1 at bigint, $2 shards smallint[], $3 inbox ids bigint[], $4 reasons text[]
INSERT INTO parked_reports (inbox_id, parked_at, shard, order_id, exec_id, why, message)
SELECT i.inbox_id, $1, i.shard, i.order_id, i.exec_id, u.why, i.message
FROM unnest($2::smallint[], $3::bigint[], $4::text[]) AS u (shard, inbox_id, why)
CROSS JOIN LATERAL (SELECT * FROM inbox WHERE shard = u.shard AND inbox_id = u.inbox_id OFFSET 0) i
