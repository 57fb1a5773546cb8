-- Which of these orders the venue has reported on behind a position: where their shard is settled up to there, nobody has settled it yet.
-- $1 their shard smallint, $2 behind this inbox id bigint, $3 order ids text[]
SELECT DISTINCT order_id FROM inbox WHERE shard = $1 AND inbox_id > $2 AND order_id = ANY ($3)
