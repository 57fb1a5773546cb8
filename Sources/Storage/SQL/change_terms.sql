-- What replaces have made of orders: terms, and the request under way. After update_orders, in the same commit: an order whose request has just been
-- answered is marked as in doubt there. Few orders are ever replaced.
-- $1 order ids text[], $2 quantities bigint[], $3 limit prices bigint[], $4 stop prices bigint[], $5 hold prices bigint[], $6 replaces smallint[],
-- $7 taken replaces smallint[], $8 new quantities bigint[], $9 new limit prices bigint[], $10 new stop prices bigint[], $11 new hold prices bigint[],
-- $12 first quantities bigint[], $13 first limit prices bigint[], $14 first stop prices bigint[], $15 least of the ids text, $16 numbers of requests under way
-- smallint[], $17 generations in which those may have been lost bigint[]
UPDATE orders o SET
    quantity = u.quantity, limit_price = u.limit_price, stop_price = u.stop_price, hold_price = u.hold_price, replaces = u.replaces,
    taken_replace = u.taken_replace, new_quantity = u.new_quantity, new_limit_price = u.new_limit_price, new_stop_price = u.new_stop_price,
    new_hold_price = u.new_hold_price, new_replace = u.new_replace, new_lost_in = u.new_lost_in, first_quantity = u.first_quantity, first_limit_price = u.first_limit_price, first_stop_price = u.first_stop_price,
    in_doubt = o.status = 9 OR o.cancel_pending OR u.new_quantity IS NOT NULL
FROM (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::smallint[], $7::smallint[], $8::bigint[], $9::bigint[],
        $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $16::smallint[], $17::bigint[])
        AS c (order_id, quantity, limit_price, stop_price, hold_price, replaces, taken_replace, new_quantity, new_limit_price, new_stop_price,
            new_hold_price, first_quantity, first_limit_price, first_stop_price, new_replace, new_lost_in)
    LIMIT cardinality($1)
) u
WHERE o.order_id = u.order_id AND o.order_id >= $15
