-- Which of these orders have been UNKNOWN since $4 at least and were asked about by then, without a word of the venue on them since, but that it does not
-- answer questions (kind 6), and none that could not be booked; and how far their shard is settled. Reads all messages that are kept.
-- $1 order ids text[], $2 least of them text, $3 greatest of them text, $4 by bigint
SELECT o.order_id, s.settled_inbox FROM orders o JOIN shards s ON s.shard = o.shard
WHERE o.order_id = ANY ($1) AND o.order_id >= $2 AND o.order_id <= $3 AND o.status = 9 AND o.updated_at <= $4
    AND EXISTS (SELECT FROM fix_sent f WHERE f.order_id = o.order_id AND f.msg_type = 'H' AND f.sent_at BETWEEN o.updated_at AND $4)
    AND NOT EXISTS (
        SELECT FROM inbox i WHERE i.order_id = o.order_id AND i.kind <> 6
            AND (i.received_at >= o.updated_at OR EXISTS (SELECT FROM parked_reports p WHERE p.inbox_id = i.inbox_id))
    )
