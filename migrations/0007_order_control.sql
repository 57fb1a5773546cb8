-- Replace, trade cancel and trade correct, and the timers that cancel an account's orders when its client falls silent.

-- Absent on the normal way: a row grows by nothing.
ALTER TABLE orders
    ADD COLUMN replaces smallint,              -- replace requests made so far: n in '<order_id>-r<n>'
    ADD COLUMN taken_replace smallint,         -- n of the request that the venue took last: under which ClOrdID it has the order
    ADD COLUMN new_quantity bigint,            -- what a replace under way asks for
    ADD COLUMN new_limit_price bigint,
    ADD COLUMN new_stop_price bigint,
    ADD COLUMN new_hold_price bigint,
    ADD COLUMN first_quantity bigint,          -- what the order was accepted with, once a replace changed it
    ADD COLUMN first_limit_price bigint,
    ADD COLUMN first_stop_price bigint,
    ADD CONSTRAINT replaces_are_whole CHECK ((new_quantity IS NULL) = (new_hold_price IS NULL) AND (new_quantity IS NULL OR (in_doubt AND replaces > 0)));

-- Terms of an order as they stood at the event; absent where no replace was asked for until then.
ALTER TABLE log ADD COLUMN quantity bigint, ADD COLUMN limit_price bigint, ADD COLUMN stop_price bigint;

-- A replace claims a key of its own: 4, requested, with the id of its order. What is stored obeys the stricter rules of before.
ALTER TABLE idempotency_keys DROP CONSTRAINT outcomes_are_known, DROP CONSTRAINT accepted_keys_have_an_order;
ALTER TABLE idempotency_keys
    ADD CONSTRAINT outcomes_are_known CHECK (outcome IN (1, 2, 3, 4)) NOT VALID,
    ADD CONSTRAINT accepted_keys_have_an_order CHECK ((outcome IN (1, 4)) = (order_id IS NOT NULL)) NOT VALID;

-- 5 a replace's hold, 6 a trade that was taken back.
ALTER TABLE ledger_entries DROP CONSTRAINT entries_name_a_cause;
ALTER TABLE ledger_entries ADD CONSTRAINT entries_name_a_cause CHECK (cause BETWEEN 1 AND 6) NOT VALID;

-- The report names a cancel or a replace of ours, and the execution that it takes back.
ALTER TABLE inbox RENAME COLUMN cancel_id TO request_id;
ALTER TABLE inbox ADD COLUMN exec_ref_id text;

-- A trade cancel (2) or correction (3) is a row of its own that names what it reverses: history stays as it was. A correction's numbers stand in the
-- place of the reversed ones; a cancel's are those that it takes back.
ALTER TABLE executions ADD COLUMN kind smallint, ADD COLUMN reversed_exec_id text,
    ADD CONSTRAINT corrections_name_what_they_reverse CHECK ((kind IS NULL) = (reversed_exec_id IS NULL) AND kind IN (2, 3));
CREATE UNIQUE INDEX an_execution_is_reversed_once ON executions (venue, trade_date, reversed_exec_id) WHERE reversed_exec_id IS NOT NULL;

-- cancel-all-after: past its deadline all open orders of the account are cancelled. Its client keeps pushing it back.
CREATE TABLE cancel_timers (
    deadline bigint NOT NULL,
    set_at bigint NOT NULL,
    shard smallint NOT NULL,
    account_id text PRIMARY KEY REFERENCES accounts
);
