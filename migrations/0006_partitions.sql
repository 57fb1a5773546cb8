-- Orders, executions and ledger entries in parts of a week (Monday to Monday, UTC), so that old parts can be detached; idempotency keys never are.
--
-- Orders are cut by their id, which begins with the date of the key's own time: the id stays the primary key over the whole table, and whoever names an
-- order touches one part. Executions are cut by trade date, which is part of their key. Entries are cut by time; that a journal's number is given once is
-- proved by the shard's counter. A week: the 52 parts of a year are planned and locked in a moment, and the bounds that statements name leave one or two.
--
-- No row is refused because its part is missing: the newest part, <table>_later, is open to the end of time. Parts are made four weeks ahead, in front
-- of it, while it is empty. It is no DEFAULT part: beside one of those nothing can be detached concurrently.
--
-- What is in a table before becomes its first part as it stands. Its bounds are proved by reading it once, some seconds for each GB.

-- By bytes, whatever the database's collation is: what a range of ids means may not depend on the operating system.
ALTER TABLE orders ALTER COLUMN order_id TYPE text COLLATE "C";
ALTER TABLE executions ALTER COLUMN trade_date TYPE text COLLATE "C";
DROP VIEW ledger;

ALTER TABLE orders RENAME TO orders_first;
ALTER INDEX orders_pkey RENAME TO orders_first_pkey;
ALTER INDEX orders_by_time RENAME TO orders_first_by_time;
ALTER INDEX orders_in_doubt RENAME TO orders_first_in_doubt;
ALTER TABLE executions RENAME TO executions_first;
ALTER INDEX an_execution_books_once RENAME TO executions_first_books_once;
ALTER TABLE ledger_entries RENAME TO ledger_entries_first;
ALTER TABLE ledger_entries_first DROP CONSTRAINT ledger_entries_pkey;
-- Time leads: entries come at the end of this index, whose pages are then full, and not at eight places in it (280 bytes an order where it was 600).
ALTER TABLE ledger_entries_first ADD CONSTRAINT ledger_entries_first_pkey PRIMARY KEY (at, journal, shard, line);

CREATE TABLE orders (LIKE orders_first INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (order_id)) PARTITION BY RANGE (order_id);
CREATE INDEX orders_by_time ON orders (account_id, created_at);
CREATE INDEX orders_in_doubt ON orders (created_at) WHERE in_doubt;
CREATE TABLE executions (
    LIKE executions_first INCLUDING DEFAULTS INCLUDING CONSTRAINTS,
    CONSTRAINT an_execution_books_once PRIMARY KEY (venue, trade_date, exec_id)
) PARTITION BY RANGE (trade_date);
CREATE TABLE ledger_entries (LIKE ledger_entries_first INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (at, journal, shard, line))
    PARTITION BY RANGE (at);

-- A part's bound at the beginning of a day.
CREATE FUNCTION part_bound(parent text, day date) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE parent WHEN 'orders' THEN 'ord_' || to_char(day, 'YYYYMMDD') WHEN 'executions' THEN to_char(day, 'YYYYMMDD')
        ELSE (extract(epoch FROM day::timestamp) * 1000)::bigint::text END
$$;

-- Every part that is attached, or is leaving, with its bounds as they are written and as days; absent: open to that side.
CREATE VIEW parts AS
SELECT b.parent, b.part, b.part_oid, b.is_leaving, b.bound_from, b.bound_to,
    CASE b.parent WHEN 'ledger_entries' THEN (to_timestamp(b.bound_from::bigint / 1000.0) AT TIME ZONE 'UTC')::date
        ELSE to_date(right(b.bound_from, 8), 'YYYYMMDD') END AS begins,
    CASE b.parent WHEN 'ledger_entries' THEN (to_timestamp(b.bound_to::bigint / 1000.0) AT TIME ZONE 'UTC')::date
        ELSE to_date(right(b.bound_to, 8), 'YYYYMMDD') END AS ends
FROM (
    SELECT p.relname::text AS parent, c.relname::text AS part, c.oid AS part_oid, i.inhdetachpending AS is_leaving,
        substring(pg_get_expr(c.relpartbound, c.oid) FROM $$FROM \('(\w+)'\) TO$$) AS bound_from,
        substring(pg_get_expr(c.relpartbound, c.oid) FROM $$TO \('(\w+)'\)$$) AS bound_to
    FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent IN ('orders'::regclass, 'executions'::regclass, 'ledger_entries'::regclass)
) b;

-- The id from which on orders are attached; '' while none were detached.
CREATE FUNCTION orders_kept_from() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT COALESCE(min(COALESCE(bound_from, '') COLLATE "C"), '') FROM parts WHERE parent = 'orders' AND NOT is_leaving
$$;

-- A statement on the table fires the table's triggers alone, one on a part the part's alone: both have them, so that nobody goes round.
CREATE FUNCTION guard_history(relation text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER history_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_changes_to_history()', relation);
    IF relation LIKE 'ledger_entries%' THEN
        EXECUTE format('CREATE TRIGGER journal_debits_equal_credits AFTER INSERT ON %I
            REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION refuse_unbalanced_journals()', relation);
    END IF;
END $$;

SELECT guard_history('executions'), guard_history('ledger_entries');

-- Attaches a table as a part. What LIKE does not copy comes from here.
CREATE FUNCTION make_part(parent text, part text, begins date, ends date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, parent);
    -- Room for second versions: see 0005_updates_in_place.sql.
    IF parent = 'orders' THEN EXECUTE format('ALTER TABLE %I SET (fillfactor = 48)', part); ELSE PERFORM guard_history(part); END IF;
    PERFORM attach_part(parent, part, begins, ends);
END $$;

CREATE FUNCTION attach_part(parent text, part text, begins date, ends date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', parent, part,
        COALESCE(quote_literal(part_bound(parent, begins)), 'MINVALUE'), COALESCE(quote_literal(part_bound(parent, ends)), 'MAXVALUE'));
END $$;

-- Makes the parts of each week that a table is without up to a day, in front of the open one. What legs wait for it is half a second at most.
-- Returns how many it made. Fails where the open part holds rows that belong into one of them: they came weeks ahead of their time, or nobody made parts
-- for so long.
CREATE FUNCTION make_parts(of_table text, through date) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    open record;
    monday date;
    made bigint := 0;
BEGIN
    PERFORM set_config('lock_timeout', '500ms', true);
    -- One at a time; who waited finds nothing left to do.
    PERFORM pg_advisory_xact_lock(hashtext('make_parts'));
    SELECT part, begins INTO STRICT open FROM parts WHERE parent = of_table AND bound_to IS NULL;
    IF open.begins >= through THEN RETURN 0; END IF;
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', of_table, open.part);
    monday := open.begins;
    WHILE monday < through LOOP
        PERFORM make_part(of_table, of_table || '_' || to_char(monday, 'YYYYMMDD'), monday, monday + 7);
        monday := monday + 7;
        made := made + 1;
    END LOOP;
    PERFORM attach_part(of_table, open.part, monday, NULL);
    RETURN made;
END $$;

-- The first part of each table ends with the Monday past all that is in them, and past the keys of the next day.
DO $$
DECLARE
    last date;
    monday date;
    parent text;
BEGIN
    SELECT greatest(
        (now() AT TIME ZONE 'UTC')::date + 1,
        (SELECT to_date(substring(max(order_id) FROM 5 FOR 8), 'YYYYMMDD') FROM orders_first),
        (SELECT (to_timestamp(max(at) / 1000.0) AT TIME ZONE 'UTC')::date FROM ledger_entries_first)
    ) INTO last;
    monday := date_trunc('week', last::timestamp)::date + 7;
    IF EXISTS (SELECT FROM executions_first WHERE trade_date >= part_bound('executions', monday)) THEN
        RAISE EXCEPTION 'executions have trade dates (FIX tag 75) that are no dates or lie ahead of this week: correct them, then migrate again';
    END IF;
    FOREACH parent IN ARRAY ARRAY['orders', 'executions', 'ledger_entries'] LOOP
        PERFORM attach_part(parent, parent || '_first', NULL, monday);
        PERFORM make_part(parent, parent || '_later', monday, NULL);
        PERFORM make_parts(parent, monday + 28);
    END LOOP;
END $$;

-- What the entries of detached parts sum to, for each balance: written before the part leaves, so that balances are proved by what is left. A part that
-- is still attached is counted by its entries.
CREATE TABLE carried_entries (
    amount bigint NOT NULL,
    bucket smallint NOT NULL,
    part text NOT NULL,
    account_id text NOT NULL,
    asset text NOT NULL,
    PRIMARY KEY (part, account_id, asset, bucket)
);

CREATE FUNCTION carry_entries(part text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('INSERT INTO carried_entries (part, account_id, asset, bucket, amount)
        SELECT %L, account_id, asset, bucket, sum(CASE WHEN (direction = 2) <> (bucket = 3) THEN amount ELSE -amount END) FROM %I
        GROUP BY account_id, asset, bucket
        ON CONFLICT ON CONSTRAINT carried_entries_pkey DO UPDATE SET amount = EXCLUDED.amount', part, part);
END $$;

-- Why a part cannot be detached; absent: it can. Nothing may still ask for what is in it: no order that is open, no event that a stream can resume from, no
-- message that a resend can repeat; of executions and entries, none of an order that is attached.
CREATE FUNCTION part_obstacle(part_name text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    this record;
    found bigint;
    oldest_event bigint;
BEGIN
    SELECT * INTO STRICT this FROM parts WHERE part = part_name;
    IF EXISTS (SELECT FROM parts WHERE parent = this.parent AND ends < this.ends AND NOT is_leaving) THEN
        RETURN 'an older part is attached';
    END IF;
    IF this.parent <> 'orders' THEN
        EXECUTE format('SELECT count(DISTINCT order_id) FROM %I WHERE order_id <> '''' AND order_id COLLATE "C" >= (SELECT orders_kept_from())',
            part_name) INTO found;
        RETURN CASE WHEN found > 0 THEN found || ' orders of its rows are attached' END;
    END IF;
    EXECUTE format('SELECT count(*) FROM %I WHERE status IN (1, 2, 3, 4, 9)', part_name) INTO found;
    IF found > 0 THEN RETURN found || ' of its orders are open'; END IF;
    SELECT min(at) INTO oldest_event FROM shards s CROSS JOIN LATERAL (SELECT at FROM log WHERE shard = s.shard ORDER BY position LIMIT 1) l;
    EXECUTE format('SELECT count(*) FROM %I WHERE updated_at >= $1', part_name) INTO found USING oldest_event;
    IF found > 0 THEN RETURN found || ' of its orders have events that are kept'; END IF;
    EXECUTE format('SELECT count(*) FROM fix_sent f JOIN %I o ON o.order_id = f.order_id', part_name) INTO found;
    IF found > 0 THEN RETURN found || ' messages of its orders are kept'; END IF;
    EXECUTE format('SELECT count(*) FROM inbox i JOIN shards s ON s.shard = i.shard AND i.inbox_id > s.settled_inbox JOIN %I o ON o.order_id = i.order_id',
        part_name) INTO found;
    RETURN CASE WHEN found > 0 THEN found || ' reports of its orders are not settled' END;
END $$;

-- The ledger in words, for people.
CREATE VIEW ledger AS
SELECT shard, journal, line, to_timestamp(at / 1000.0) AS at, account_id,
    CASE cause WHEN 1 THEN 'deposit' WHEN 2 THEN 'accept' WHEN 3 THEN 'fill' ELSE 'release' END AS cause,
    CASE direction WHEN 1 THEN 'DEBIT' ELSE 'CREDIT' END AS direction,
    CASE asset WHEN '$' THEN 'CASH' ELSE 'EQUITY' END AS kind,
    NULLIF(asset, '$') AS symbol,
    CASE bucket WHEN 1 THEN 'available' WHEN 2 THEN 'held' WHEN 3 THEN 'owed' ELSE 'settlement' END AS bucket,
    (amount / 10000.0)::numeric(24, 4) AS amount, order_id
FROM ledger_entries;
