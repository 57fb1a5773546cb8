-- Which of these executions are booked already, with what they said: the same id with other content is parked. The bounds leave out the parts that none
-- of them can be in, before anything is opened; OFFSET 0 keeps each lookup one by the key.
-- $1 venue text, $2 trade dates text[], $3 ExecIDs text[], $4 first trade date text, $5 last trade date text
SELECT e.trade_date, e.exec_id, e.order_id, e.quantity, e.price, e.kind, e.reversed_exec_id, r.exec_id IS NOT NULL AS is_reversed
FROM unnest($2::text[], $3::text[]) AS wanted (trade_date, exec_id)
CROSS JOIN LATERAL (
    SELECT * FROM executions
    WHERE venue = $1 AND trade_date = wanted.trade_date AND exec_id = wanted.exec_id AND trade_date >= $4 AND trade_date <= $5 OFFSET 0
) e
LEFT JOIN LATERAL (
    SELECT exec_id FROM executions
    WHERE venue = $1 AND trade_date = e.trade_date AND reversed_exec_id = e.exec_id AND trade_date >= $4 AND trade_date <= $5 OFFSET 0
) r ON true
