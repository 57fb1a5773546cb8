-- The FIX session in PostgreSQL: numbers, sent messages, the inbox, and the lease that lets one router at a time speak.

CREATE TABLE fix_sessions (
    session_id text PRIMARY KEY,               -- '<SenderCompID>-><TargetCompID>'
    generation bigint NOT NULL DEFAULT 1,      -- grows with every reset of the sequence numbers
    next_out bigint NOT NULL DEFAULT 1,        -- MsgSeqNum that the next message of ours takes
    next_in bigint NOT NULL DEFAULT 1,         -- MsgSeqNum that we expect next
    next_inbox bigint NOT NULL DEFAULT 1,
    lease_epoch bigint NOT NULL DEFAULT 0,     -- grows with every change of holder; checked in every commit that assigns or records a number
    lease_until bigint NOT NULL DEFAULT 0,     -- by this database's clock
    lease_holder text,
    logged_on boolean NOT NULL DEFAULT false,
    CONSTRAINT numbers_begin_at_one CHECK (generation >= 1 AND next_out >= 1 AND next_in >= 1)
) WITH (fillfactor = 10);

-- Application messages that were given a number, kept for resending. Session-level messages are gap-filled and not kept.
CREATE TABLE fix_sent (
    generation bigint NOT NULL,
    number bigint NOT NULL,
    sent_at bigint NOT NULL,                   -- SendingTime, which a resend repeats as OrigSendingTime
    resend_by bigint NOT NULL,                 -- past this time a resend is a gap fill and the order is asked about instead
    shard smallint NOT NULL,
    session_id text NOT NULL,
    msg_type text NOT NULL,
    order_id text NOT NULL,
    body bytea NOT NULL,                       -- the fields after the standard header, as sent
    PRIMARY KEY (session_id, generation, number)
);

CREATE INDEX fix_sent_by_order ON fix_sent (order_id);

-- What the venue told us, committed together with the number that we expect next. settle reads it by shard, in order.
CREATE TABLE inbox (
    inbox_id bigint PRIMARY KEY,
    generation bigint NOT NULL,
    number bigint NOT NULL,
    received_at bigint NOT NULL,
    shard smallint NOT NULL,                   -- of the order it speaks of; 0 where no order is known
    kind smallint NOT NULL,                    -- VenueReport.Kind
    last_quantity bigint,
    last_price bigint,
    cumulative_quantity bigint,
    order_quantity bigint,
    order_status text,                         -- FIX tag 39
    exec_type text,                            -- FIX tag 150
    reject_reason bigint,                      -- FIX tag 103, 102, 373 or 380
    session_id text NOT NULL,
    order_id text,
    cancel_id text,
    exec_id text,
    trade_date text,
    symbol text,
    side text,
    text text,
    message bytea NOT NULL,                    -- the whole message: evidence
    CONSTRAINT a_number_is_received_once UNIQUE (session_id, generation, number)
);

CREATE INDEX inbox_by_shard ON inbox (shard, inbox_id);

-- Reports that could not be booked: kept, alarmed, never dropped.
CREATE TABLE parked_reports (
    inbox_id bigint PRIMARY KEY,
    parked_at bigint NOT NULL,
    resolved_at bigint,
    shard smallint NOT NULL,
    order_id text,
    exec_id text,
    why text NOT NULL,
    message bytea NOT NULL
);

-- What a person has to look at: overfills, amounts owed, parked reports, differences with the venue.
CREATE TABLE alarms (
    alarm_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    kind text NOT NULL,
    account_id text,
    order_id text,
    detail text NOT NULL
);
