-- What was alarmed of an order, and what operators did to it.
-- $1 order id text
SELECT utc_text(at) AS at, 'alarm ' || kind AS what, detail FROM alarms WHERE order_id = $1
UNION ALL SELECT utc_text(at), action || ' by ' || by_whom, detail FROM operator_audit WHERE detail LIKE $1 || '%'
ORDER BY 1
