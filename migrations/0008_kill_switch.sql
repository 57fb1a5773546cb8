-- The kill switch: a halt of everything, of a scope of its own, so that a venue halt which was there before outlives it, and `resume venue` does not end it.
ALTER TABLE halts DROP CONSTRAINT halt_scopes_are_known, DROP CONSTRAINT venue_halts_name_no_subject;
ALTER TABLE halts
    ADD CONSTRAINT halt_scopes_are_known CHECK (scope IN ('kill_switch', 'venue', 'symbol', 'account')),
    ADD CONSTRAINT venue_halts_name_no_subject CHECK ((scope IN ('kill_switch', 'venue')) = (subject = ''));

-- Open orders of a part in a range of its blocks. No index says which orders are open (see 0005_updates_in_place.sql): each part is read whole, a range at
-- a time. By name, so that the newest part can be read first: that is where open orders are.
CREATE FUNCTION open_orders(part text, first bigint, behind bigint) RETURNS TABLE (shard smallint, order_id text) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT shard, order_id FROM %I WHERE ctid >= %L::tid AND ctid < %L::tid AND status IN (1, 2, 3, 4, 9)',
        part, format('(%s,0)', first), format('(%s,0)', behind));
END $$;

-- For people: a time in ms since the epoch, in UTC; a FIX message with | in place of SOH, and what is no text as octal.
CREATE FUNCTION utc_text(milliseconds bigint) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT to_char(to_timestamp(milliseconds / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
CREATE FUNCTION fix_text(message bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT replace(encode(message, 'escape'), chr(1), '|') $$;
