-- For /metrics: UNKNOWN orders and unanswered cancels and replaces of an order that is not UNKNOWN, how many and since when the oldest (0 = none).
SELECT count(*) FILTER (WHERE status = 9), COALESCE(min(updated_at) FILTER (WHERE status = 9), 0)::bigint,
    count(*) FILTER (WHERE status <> 9), COALESCE(min(updated_at) FILTER (WHERE status <> 9), 0)::bigint
FROM orders WHERE in_doubt
