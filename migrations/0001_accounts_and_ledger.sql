-- Accounts, the shards that serialise them, and the double-entry ledger.
-- Money, prices and shares are whole numbers of 1/10,000 in BIGINT: NUMERIC would take NaN. Times are milliseconds since the epoch, UTC.

-- One row a shard. Every leg that changes an account first locks its shard's row, so that within a shard sequence order is commit order.
CREATE TABLE shards (
    shard smallint PRIMARY KEY CONSTRAINT there_are_eight_shards CHECK (shard BETWEEN 0 AND 7),
    next_log bigint NOT NULL DEFAULT 1,        -- the position that the next log row takes
    next_journal bigint NOT NULL DEFAULT 1,    -- the number that the next journal takes
    sent_log bigint NOT NULL DEFAULT 0,        -- log rows up to here have been looked at by the venue's sender
    settled_inbox bigint NOT NULL DEFAULT 0,   -- inbox rows up to here have been settled
    replays bigint NOT NULL DEFAULT 0          -- answers given again: a replay writes too, so that it is as durable as the first answer
) WITH (fillfactor = 10);

INSERT INTO shards (shard) SELECT generate_series(0, 7);

-- The generation in event ids (`<generation>-<n>`): a database restored from a backup gets another one, so that old ids cannot be mistaken for new.
CREATE TABLE event_generation (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    generation bigint NOT NULL
);

INSERT INTO event_generation (generation) VALUES (extract(epoch FROM clock_timestamp())::bigint);

CREATE TABLE accounts (
    account_id text PRIMARY KEY,
    shard smallint NOT NULL REFERENCES shards,
    last_event bigint NOT NULL DEFAULT 0,      -- the number of the account's newest event; they grow by one, without gaps
    oldest_event bigint NOT NULL DEFAULT 1,    -- events before this one are past their keeping
    created_at bigint NOT NULL,
    CONSTRAINT account_ids_are_plain CHECK (account_id ~ '^[A-Za-z0-9_-]{1,64}$')
) WITH (fillfactor = 50);

-- A projection of the ledger, changed in the transaction that writes the entries. asset is '$' for cash, else the symbol.
-- Customers have available, held and owed; the house account of a shard ('~house-<shard>') has settlement alone.
CREATE TABLE balances (
    account_id text NOT NULL,
    asset text NOT NULL,
    available bigint NOT NULL DEFAULT 0,
    held bigint NOT NULL DEFAULT 0,
    owed bigint NOT NULL DEFAULT 0,            -- what a fill took beyond hold and available; blocks new orders until it is repaid
    settlement bigint NOT NULL DEFAULT 0,
    cost bigint NOT NULL DEFAULT 0,            -- what the position's shares cost in all, for its average price; not a ledger amount
    PRIMARY KEY (account_id, asset),
    CONSTRAINT customer_balances_are_never_negative CHECK (available >= 0 AND held >= 0 AND owed >= 0),
    CONSTRAINT only_the_house_settles CHECK (settlement = 0 OR account_id LIKE '~house-%')
) WITH (fillfactor = 50);

CREATE INDEX balances_owing ON balances (account_id) WHERE owed > 0;

-- One row an entry. A CREDIT raises available, held and settlement and lowers owed; a DEBIT does the reverse.
CREATE TABLE ledger_entries (
    journal bigint NOT NULL,
    at bigint NOT NULL,
    amount bigint NOT NULL,
    shard smallint NOT NULL,
    line smallint NOT NULL,
    cause smallint NOT NULL,                   -- 1 deposit, 2 accept, 3 fill, 4 release
    direction smallint NOT NULL,               -- 1 DEBIT, 2 CREDIT
    bucket smallint NOT NULL,                  -- 1 available, 2 held, 3 owed, 4 settlement
    account_id text NOT NULL,
    asset text NOT NULL,                       -- '$' is CASH; everything else is EQUITY of that symbol
    order_id text,
    PRIMARY KEY (shard, journal, line),
    CONSTRAINT entry_amounts_are_positive CHECK (amount > 0),
    CONSTRAINT entries_are_debit_or_credit CHECK (direction IN (1, 2)),
    CONSTRAINT entries_name_a_bucket CHECK (bucket IN (1, 2, 3, 4)),
    CONSTRAINT entries_name_a_cause CHECK (cause IN (1, 2, 3, 4))
);

-- The same in words, for people.
CREATE VIEW ledger AS
SELECT shard, journal, line, to_timestamp(at / 1000.0) AS at, account_id,
    CASE cause WHEN 1 THEN 'deposit' WHEN 2 THEN 'accept' WHEN 3 THEN 'fill' ELSE 'release' END AS cause,
    CASE direction WHEN 1 THEN 'DEBIT' ELSE 'CREDIT' END AS direction,
    CASE asset WHEN '$' THEN 'CASH' ELSE 'EQUITY' END AS kind,
    NULLIF(asset, '$') AS symbol,
    CASE bucket WHEN 1 THEN 'available' WHEN 2 THEN 'held' WHEN 3 THEN 'owed' ELSE 'settlement' END AS bucket,
    (amount / 10000.0)::numeric(24, 4) AS amount, order_id
FROM ledger_entries;

-- A statement trigger over the inserted rows costs nothing measurable for a batch; a deferred row trigger costs half as much again.
CREATE FUNCTION refuse_unbalanced_journals() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
    SELECT shard, journal, asset INTO bad FROM inserted
    GROUP BY shard, journal, asset
    HAVING sum(CASE direction WHEN 1 THEN amount::numeric ELSE -amount::numeric END) <> 0
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'journal % of shard % does not sum to zero for %', bad.journal, bad.shard, bad.asset
            USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_debits_equal_credits';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER journal_debits_equal_credits AFTER INSERT ON ledger_entries
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION refuse_unbalanced_journals();

CREATE FUNCTION refuse_changes_to_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'check_violation', CONSTRAINT = 'history_is_append_only';
END $$;

CREATE TRIGGER history_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_changes_to_history();
