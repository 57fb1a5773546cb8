-- What is needed to tell what became of a request whose answer, or which itself, was lost with the session's numbers or in a restore. Absent on an order's
-- normal way: a row grows by nothing.
ALTER TABLE orders
    ADD COLUMN new_replace smallint,           -- n of the replace request under way; later requests may have higher numbers already, after a restore
    ADD COLUMN new_lost_in bigint;             -- generation of the session's numbers in which that request or its answer may have been lost
UPDATE orders SET new_replace = replaces WHERE in_doubt AND new_quantity IS NOT NULL;
ALTER TABLE orders ADD CONSTRAINT replaces_under_way_have_a_number
    CHECK ((new_replace IS NULL) = (new_quantity IS NULL) AND (new_lost_in IS NULL OR new_quantity IS NOT NULL));

-- PossDupFlag (tag 43): what such a message says was so when it was first sent.
ALTER TABLE inbox ADD COLUMN is_repeated boolean;
