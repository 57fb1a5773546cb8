-- Idempotency keys, orders, the log that is outbox and event stream at once, and executions.

-- One key, one answer, for ever. Never detached, never deleted: the answer is kept as the bytes that were sent.
CREATE TABLE idempotency_keys (
    key uuid NOT NULL,
    created_at bigint NOT NULL,
    http_status smallint,                      -- absent for a fenced key
    outcome smallint NOT NULL,                 -- 1 accepted, 2 refused for good, 3 fenced
    account_id text NOT NULL,
    fingerprint bytea,                         -- SHA-256 of the signed form without its timestamps; absent for a fenced key
    order_id text,
    answer bytea,
    CONSTRAINT one_key_one_order PRIMARY KEY (account_id, key),
    CONSTRAINT outcomes_are_known CHECK (outcome IN (1, 2, 3)),
    CONSTRAINT accepted_keys_have_an_order CHECK ((outcome = 1) = (order_id IS NOT NULL)),
    CONSTRAINT answered_keys_have_an_answer CHECK ((outcome = 3) = (answer IS NULL) AND (outcome = 3) = (fingerprint IS NULL))
);

CREATE TABLE orders (
    key uuid NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    quantity bigint NOT NULL,
    limit_price bigint,
    stop_price bigint,
    hold_price bigint NOT NULL,                -- cash held for each share of a BUY; 0 for a SELL
    held bigint NOT NULL,                      -- what this order still holds: cash for a BUY, shares for a SELL
    filled_quantity bigint NOT NULL DEFAULT 0,
    filled_value bigint NOT NULL DEFAULT 0,    -- sum of quantity times price over its fills
    route_by bigint NOT NULL,                  -- not numbered for the venue by then: cancelled by our own commit
    client_timestamp bigint NOT NULL,
    quote_reference bigint NOT NULL,
    routed_at bigint,
    asked_at bigint,                           -- when the venue was last asked about it (OrderStatusRequest)
    shard smallint NOT NULL,
    side smallint NOT NULL,                    -- as FIX tag 54
    order_type smallint NOT NULL,              -- as FIX tag 40
    time_in_force smallint NOT NULL,           -- as FIX tag 59
    status smallint NOT NULL,                  -- OrderStatus
    cancels smallint NOT NULL DEFAULT 0,       -- cancel requests made so far: n in '<order_id>-c<n>'
    cancel_pending boolean NOT NULL DEFAULT false,
    account_id text NOT NULL,                  -- no foreign key: it cost a third of all throughput, accept has read the account under its shard's lock, and verify-ledger finds strays
    order_id text NOT NULL,
    symbol text NOT NULL,
    credential_id text NOT NULL,
    reason text,
    PRIMARY KEY (account_id, order_id),
    CONSTRAINT quantities_are_whole_and_bounded CHECK (quantity BETWEEN 1 AND 1000000000),
    CONSTRAINT holds_are_never_negative CHECK (held >= 0 AND hold_price >= 0),
    CONSTRAINT fills_are_never_negative CHECK (filled_quantity >= 0 AND filled_value >= 0),
    CONSTRAINT prices_are_positive CHECK (limit_price > 0 AND stop_price > 0),
    CONSTRAINT limit_prices_follow_the_type CHECK ((limit_price IS NOT NULL) = (order_type IN (2, 4))),
    CONSTRAINT stop_prices_follow_the_type CHECK ((stop_price IS NOT NULL) = (order_type IN (3, 4))),
    CONSTRAINT statuses_are_known CHECK (status BETWEEN 1 AND 9),
    CONSTRAINT ended_orders_hold_nothing CHECK (status IN (1, 2, 3, 4, 9) OR held = 0)
) WITH (fillfactor = 70);

-- Reports name orders by ClOrdID alone; identities are unique across accounts because the account is part of their digest.
CREATE UNIQUE INDEX order_ids_are_unique ON orders (order_id);
-- What the sweeps look for: not yet routed, not yet acknowledged, unknown. Small, because orders leave it at once.
CREATE INDEX orders_awaiting_the_venue ON orders (shard, status, created_at) WHERE status IN (1, 2, 9) OR cancel_pending;
-- The account's orders, newest first.
CREATE INDEX orders_by_time ON orders (account_id, created_at, order_id);

-- The committed log: outbox for the venue's sender and event stream of the account. Kept 7 days.
CREATE TABLE log (
    position bigint NOT NULL,
    event_number bigint NOT NULL,
    at bigint NOT NULL,
    filled_quantity bigint NOT NULL,
    filled_value bigint NOT NULL,
    held bigint NOT NULL,
    last_quantity bigint,
    last_price bigint,
    shard smallint NOT NULL,
    type smallint NOT NULL,                    -- OrderEventType
    status smallint NOT NULL,                  -- the order's status after this event
    account_id text NOT NULL,
    order_id text NOT NULL,
    reason text,
    PRIMARY KEY (shard, position),
    CONSTRAINT events_are_numbered_once UNIQUE (account_id, event_number)
);

-- A fill that was booked. Unique by venue, trade date and ExecID: the same report booked twice is refused by the database.
CREATE TABLE executions (
    at bigint NOT NULL,
    quantity bigint NOT NULL,
    price bigint NOT NULL,
    inbox_id bigint NOT NULL,
    shard smallint NOT NULL,
    side smallint NOT NULL,
    venue text NOT NULL,
    trade_date text NOT NULL,                  -- yyyymmdd, FIX tag 75
    exec_id text NOT NULL,                     -- FIX tag 17
    account_id text NOT NULL,
    order_id text NOT NULL,
    symbol text NOT NULL,
    CONSTRAINT an_execution_books_once PRIMARY KEY (venue, trade_date, exec_id),
    CONSTRAINT executions_have_a_quantity_and_a_price CHECK (quantity > 0 AND price > 0)
);

CREATE INDEX executions_of_an_order ON executions (account_id, order_id);
CREATE TRIGGER history_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON executions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_changes_to_history();
