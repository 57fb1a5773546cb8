-- What a comparison found.
-- $1 reconciliation id bigint
SELECT order_id, account_id, what, detail FROM reconciliation_differences WHERE reconciliation_id = $1 ORDER BY what, order_id
