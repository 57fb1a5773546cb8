-- Which of these executions are booked already, with what they said: the same id with other content is parked.
-- $1 venue text, $2 trade dates text[], $3 ExecIDs text[]
SELECT e.trade_date, e.exec_id, e.order_id, e.quantity, e.price
FROM unnest($2::text[], $3::text[]) AS wanted (trade_date, exec_id)
CROSS JOIN LATERAL (
    -- LIMIT keeps this a look-up by the whole key, whatever the statistics say.
    SELECT * FROM executions WHERE venue = $1 AND trade_date = wanted.trade_date AND exec_id = wanted.exec_id LIMIT 1
) e
