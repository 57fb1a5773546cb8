-- Where changed orders stand now. routed_at is set once, when the order first has its FIX sequence number. On an order's normal way no column of an
-- index changes: the row is updated in place (see 0005_updates_in_place.sql). The bound leaves out the older parts before anything is opened.
--
-- Each order is looked up by its id, whatever the statistics say: LIMIT makes the planner expect one row, and begin with it. An upper bound beside the
-- lower one would look as good as the id while the table is empty, and a batch would then read all orders between its bounds for each of its own.
-- $1 order ids text[], $2 statuses smallint[], $3 held bigint[], $4 filled quantities bigint[], $5 filled values bigint[], $6 cancels smallint[],
-- $7 cancel_pending boolean[], $8 reasons text[], $9 updated_at bigint[], $10 least of the ids text, $11 resends smallint[],
-- $12 unanswered in bigint[]
UPDATE orders o SET
    status = u.status, held = u.held, filled_quantity = u.filled_quantity, filled_value = u.filled_value, cancels = u.cancels,
    cancel_pending = u.cancel_pending, in_doubt = u.status = 9 OR u.cancel_pending OR o.new_quantity IS NOT NULL, reason = u.reason, updated_at = u.updated_at,
    resends = u.resends, unanswered_in = u.unanswered_in,
    routed_at = CASE WHEN u.status = 2 THEN COALESCE(o.routed_at, u.updated_at) ELSE o.routed_at END
FROM (
    SELECT *
    FROM unnest($1::text[], $2::smallint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::smallint[], $7::boolean[], $8::text[], $9::bigint[],
        $11::smallint[], $12::bigint[])
        AS c (order_id, status, held, filled_quantity, filled_value, cancels, cancel_pending, reason, updated_at, resends, unanswered_in)
    LIMIT cardinality($1)
) u
WHERE o.order_id = u.order_id AND o.order_id >= $10
