-- UNKNOWN orders that the venue is to be asked about again.
-- $1 asked before bigint, $2 limit int
SELECT order_id FROM orders WHERE status = 9 AND COALESCE(asked_at, 0) < $1 ORDER BY created_at LIMIT $2
