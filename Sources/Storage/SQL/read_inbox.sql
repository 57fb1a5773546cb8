-- The next reports of a shard, in the order they were received.
-- $1 shard smallint, $2 limit int
SELECT i.inbox_id, i.kind, i.order_id, i.cancel_id, i.exec_id, i.trade_date, i.exec_type, i.order_status, i.last_quantity, i.last_price,
    i.cumulative_quantity, i.order_quantity, i.reject_reason, i.symbol, i.side, i.text
FROM inbox i WHERE i.shard = $1 AND i.inbox_id > (SELECT settled_inbox FROM shards WHERE shard = $1)
ORDER BY i.inbox_id LIMIT $2
