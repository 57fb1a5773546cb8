-- Comparing with the venue: a request (an operator's, or a router's after its start) becomes one OrderMassStatusRequest, whose answers come through the
-- inbox as every report does; once all are settled, what differs is written down.
CREATE TABLE reconciliations (
    reconciliation_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    requested_at bigint NOT NULL,
    sent_at bigint,                            -- of the OrderMassStatusRequest, as are generation and number
    generation bigint,
    number bigint,
    first_inbox bigint,                        -- no answer to it has a lower inbox id
    ended_at bigint,
    reports bigint,
    session_id text NOT NULL,
    requested_by text NOT NULL,
    outcome text,
    detail text,
    CONSTRAINT reconciliation_outcomes_are_known CHECK (outcome IN ('agrees', 'differs', 'refused', 'unanswered')),
    CONSTRAINT ended_reconciliations_have_an_outcome CHECK ((ended_at IS NULL) = (outcome IS NULL))
);

CREATE INDEX reconciliations_open ON reconciliations (session_id) WHERE ended_at IS NULL;

CREATE TABLE reconciliation_differences (
    reconciliation_id bigint NOT NULL REFERENCES reconciliations,
    order_id text NOT NULL,                    -- the venue's ClOrdID, which may be none of ours
    account_id text,
    what text NOT NULL,
    detail text NOT NULL,
    PRIMARY KEY (reconciliation_id, order_id, what),
    CONSTRAINT differences_are_known CHECK (what IN ('not_ours', 'not_at_venue', 'cum_qty', 'open_at_venue'))
);

-- Whether a FIX message has this field with this value.
CREATE FUNCTION fix_has(message bytea, field text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT position(convert_to(chr(1) || field || chr(1), 'UTF8') IN message) > 0
$$;
