-- When the venue was last asked about recovered keys.
-- $1 order ids text[], $2 at bigint
UPDATE recovered_keys SET asked_at = $2 WHERE order_id = ANY ($1)
