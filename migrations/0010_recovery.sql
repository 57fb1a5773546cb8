-- After a restore to an earlier moment the venue knows orders that this database does not.

-- Each recovery. A key whose own time lies before the newest one may have been accepted in what was lost: it is asked about at the venue first.
CREATE TABLE recoveries (
    recovery_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    by_whom text NOT NULL
);

-- Keys that came back after a recovery and are unseen here, with what a question about their order names. The key becomes its order when the venue knows
-- the ClOrdID that it gives, and is fenced when the venue does not; the row stays as evidence.
CREATE TABLE recovered_keys (
    key uuid NOT NULL,
    created_at bigint NOT NULL,
    asked_at bigint,
    answered_at bigint,
    shard smallint NOT NULL,
    side smallint NOT NULL,
    known boolean,                             -- the venue's word; absent: not yet
    account_id text NOT NULL,
    order_id text NOT NULL UNIQUE,
    symbol text NOT NULL,
    PRIMARY KEY (account_id, key),
    CONSTRAINT answers_have_their_time CHECK ((known IS NULL) = (answered_at IS NULL))
);

CREATE INDEX recovered_keys_open ON recovered_keys (created_at) WHERE known IS NULL;
