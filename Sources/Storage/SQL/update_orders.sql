-- Where changed orders stand now. routed_at is set once, when the order first has its FIX sequence number.
-- $1 account ids text[], $2 order ids text[], $3 statuses smallint[], $4 held bigint[], $5 filled quantities bigint[], $6 filled values bigint[],
-- $7 cancels smallint[], $8 cancel_pending boolean[], $9 reasons text[], $10 updated_at bigint[]
UPDATE orders o SET
    status = u.status, held = u.held, filled_quantity = u.filled_quantity, filled_value = u.filled_value, cancels = u.cancels,
    cancel_pending = u.cancel_pending, reason = u.reason, updated_at = u.updated_at,
    routed_at = CASE WHEN u.status = 2 THEN COALESCE(o.routed_at, u.updated_at) ELSE o.routed_at END
FROM unnest($1::text[], $2::text[], $3::smallint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::smallint[], $8::boolean[], $9::text[], $10::bigint[])
    AS u (account_id, order_id, status, held, filled_quantity, filled_value, cancels, cancel_pending, reason, updated_at)
WHERE o.account_id = u.account_id AND o.order_id = u.order_id
