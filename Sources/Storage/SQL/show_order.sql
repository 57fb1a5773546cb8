-- An order as it stands, with the key that made it.
-- $1 order id text
SELECT o.order_id, o.account_id, o.shard::text, o.key::text, CASE o.side WHEN 1 THEN 'BUY' ELSE 'SELL' END AS side, o.symbol,
    CASE o.order_type WHEN 1 THEN 'MARKET' WHEN 2 THEN 'LIMIT' WHEN 3 THEN 'STOP' ELSE 'STOP_LIMIT' END AS order_type,
    CASE o.time_in_force WHEN 0 THEN 'DAY' WHEN 1 THEN 'GTC' WHEN 3 THEN 'IOC' ELSE 'FOK' END AS time_in_force,
    o.quantity::text, (o.limit_price / 10000.0)::numeric(24, 4)::text AS limit_price, (o.stop_price / 10000.0)::numeric(24, 4)::text AS stop_price,
    o.status::text, o.reason, o.filled_quantity::text, (o.filled_value / 10000.0)::numeric(24, 4)::text AS filled_value,
    (o.held / 10000.0)::numeric(24, 4)::text AS held, (o.hold_price / 10000.0)::numeric(24, 4)::text AS hold_price, o.cancels::text,
    o.cancel_pending::text, o.replaces::text, o.taken_replace::text, o.new_quantity::text,
    (o.new_limit_price / 10000.0)::numeric(24, 4)::text AS new_limit_price, o.first_quantity::text, utc_text(o.created_at) AS created_at, utc_text(o.route_by) AS route_by, utc_text(o.routed_at) AS routed_at,
    utc_text(greatest(o.asked_at, (SELECT max(f.sent_at) FROM fix_sent f WHERE f.order_id = o.order_id AND f.msg_type = 'H'))) AS asked_at, utc_text(o.updated_at) AS updated_at, o.credential_id, utc_text(k.created_at) AS key_claimed_at,
    k.http_status::text AS first_answer, encode(k.fingerprint, 'hex') AS fingerprint
FROM orders o LEFT JOIN idempotency_keys k ON k.account_id = o.account_id AND k.key = o.key
WHERE o.order_id = $1
