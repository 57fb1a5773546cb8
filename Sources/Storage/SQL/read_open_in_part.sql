-- Open orders of a part in a range of its blocks, for the kill switch: ACCEPTED, ROUTED, WORKING, PARTIALLY_FILLED and UNKNOWN.
-- $1 part text, $2 first block bigint, $3 block behind the last bigint
SELECT shard, order_id FROM open_orders($1, $2, $3)
