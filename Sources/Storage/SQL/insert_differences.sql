-- Keeps what a comparison found.
-- $1 reconciliation id bigint, $2 order ids text[], $3 account ids text[], $4 whats text[], $5 details text[]
INSERT INTO reconciliation_differences (reconciliation_id, order_id, account_id, what, detail)
SELECT $1, u.* FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS u
