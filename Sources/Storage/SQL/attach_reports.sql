-- Gives reports of orders that were adopted to settle again, under new inbox ids behind all others, in the shard of their order; those of them that were
-- parked are resolved. A status is left where it is: it tells of the past.
-- $1 order ids text[], $2 shards smallint[], pairwise; $3 session id text, $4 now bigint
WITH adopted AS MATERIALIZED (SELECT * FROM unnest($1::text[], $2::smallint[]) AS u (order_id, shard)), reports AS MATERIALIZED (
    SELECT i.inbox_id, i.shard AS shard_before, a.shard, row_number() OVER (ORDER BY i.inbox_id) AS place
    FROM adopted a JOIN inbox i ON i.order_id = a.order_id
    WHERE i.shard = 0 AND i.exec_type IS DISTINCT FROM 'I' AND i.kind IN (1, 2)
), numbered AS (
    UPDATE fix_sessions SET next_inbox = next_inbox + (SELECT count(*) FROM reports) WHERE session_id = $3 RETURNING next_inbox
), heard AS (
    -- Adopted on the venue's word that it has them.
    UPDATE orders o SET unanswered_in = 0 FROM adopted a WHERE o.order_id = a.order_id
), moved AS (
    UPDATE inbox i SET inbox_id = n.next_inbox - (SELECT count(*) FROM reports) + r.place - 1, shard = r.shard
    FROM reports r CROSS JOIN numbered n WHERE i.shard = r.shard_before AND i.inbox_id = r.inbox_id
)
UPDATE parked_reports p SET resolved_at = $4 FROM reports r WHERE p.inbox_id = r.inbox_id AND p.resolved_at IS NULL
