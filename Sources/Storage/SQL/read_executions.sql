-- Which of these executions are booked already, with what they said: the same id with other content is parked.
-- $1 venue text, $2 trade dates text[], $3 ExecIDs text[]
SELECT e.trade_date, e.exec_id, e.order_id, e.quantity, e.price
FROM unnest($2::text[], $3::text[]) AS wanted (trade_date, exec_id)
JOIN executions e ON e.venue = $1 AND e.trade_date = wanted.trade_date AND e.exec_id = wanted.exec_id
