-- UNKNOWN orders that the venue is to be asked about again, and those whose cancel or replace request it has not answered.
-- What the venue was not asked about for longest comes first: one that it leaves in doubt for days keeps no other waiting.
-- $1 asked before bigint, $2 limit int
SELECT order_id FROM orders
WHERE in_doubt AND (status = 9 OR ((cancel_pending OR new_quantity IS NOT NULL) AND updated_at < $1)) AND COALESCE(asked_at, 0) < $1
ORDER BY COALESCE(asked_at, 0), created_at, order_id LIMIT $2
