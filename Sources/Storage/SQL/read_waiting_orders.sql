-- Which of these orders the venue has reported on and nobody has settled it yet.
-- $1 their shard smallint, $2 settled up to there bigint, $3 order ids text[]
SELECT DISTINCT order_id FROM inbox WHERE shard = $1 AND inbox_id > $2 AND order_id = ANY ($3)
