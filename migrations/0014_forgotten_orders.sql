-- unanswered_in is 0 from now on also for an order that the venue had acknowledged or filled when it came into doubt: should the venue not know it any more,
-- it contradicts itself. Before, such an order had nothing there, as one of a restored database has, of which that is not known: the events tell of those.
UPDATE orders o SET unanswered_in = 0
WHERE in_doubt AND status = 9 AND unanswered_in IS NULL
    AND (reason IS DISTINCT FROM 'restored' OR filled_quantity > 0
        OR EXISTS (SELECT FROM log l WHERE l.account_id = o.account_id AND l.order_id = o.order_id AND l.type IN (3, 4)));
