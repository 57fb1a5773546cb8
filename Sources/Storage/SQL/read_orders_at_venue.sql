-- Orders in a range of blocks of each part that the venue has or may have, to be asked about when messages between it and us were lost for good; of those that
-- are UNKNOWN already the ones with a request under way.
-- No index says which orders are open: it would be written with each order's end. After such a loss, which is rare, everything is read instead,
-- 1 to 5 s for each GB (2 million orders), in ranges, so that the session's lease can be renewed between.
-- $1 first block bigint, $2 block behind the last bigint
SELECT shard, order_id FROM orders
WHERE ctid >= format('(%s,0)', $1::bigint)::tid AND ctid < format('(%s,0)', $2::bigint)::tid AND (status IN (2, 3, 4) OR (status = 9 AND (cancel_pending OR new_quantity IS NOT NULL)))
