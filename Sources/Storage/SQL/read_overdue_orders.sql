-- Orders that were not numbered for the venue by their deadline: their accepted row (1) lies behind the sender's cursor. Those of an older version,
-- which the cursor has passed, are marked (in_doubt). Rows of the last second are left to the sender, who cancels what it finds past its deadline: this
-- look is for when nobody sends, and costs nothing while somebody does. OFFSET 0 keeps the order of the joins: from the few rows of the log, whatever is known of the tables.
-- $1 now bigint, $2 limit bigint
SELECT l.shard, o.order_id
FROM shards s
CROSS JOIN LATERAL (SELECT shard, order_id FROM log WHERE shard = s.shard AND position > s.sent_log AND type = 1 AND at < $1::bigint - 1000 OFFSET 0) l
CROSS JOIN LATERAL (SELECT order_id FROM orders WHERE order_id = l.order_id AND status = 1 AND route_by < $1 OFFSET 0) o
UNION SELECT shard, order_id FROM orders WHERE in_doubt AND status = 1 AND route_by < $1
LIMIT $2
