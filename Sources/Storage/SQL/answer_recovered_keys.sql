-- The venue's word on the orders of recovered keys. The first holds: what it knew once it never did not know.
-- $1 at bigint, $2 order ids text[], $3 known boolean[], pairwise and distinct
UPDATE recovered_keys r SET known = u.known, answered_at = $1
FROM (SELECT * FROM unnest($2::text[], $3::boolean[]) AS c (order_id, known) LIMIT cardinality($2)) u
WHERE r.order_id = u.order_id AND r.known IS NULL
