-- Device keys and their life, operator halts, and the audit of both.

CREATE TABLE credentials (
    created_at bigint NOT NULL,
    activated_at bigint,
    invalidated_at bigint,
    challenge_expires_at bigint,
    state smallint NOT NULL,                   -- 1 PENDING_PAIRING, 2 ACTIVE, 3 INVALIDATED
    account_id text NOT NULL REFERENCES accounts,
    credential_id text NOT NULL,
    key_alias text NOT NULL,
    public_key_spki bytea NOT NULL,            -- DER, P-256 only: checked before it is stored
    challenge bytea,                           -- 32 bytes, single use: gone once used
    PRIMARY KEY (account_id, credential_id),
    CONSTRAINT credential_ids_are_unique UNIQUE (credential_id),
    CONSTRAINT credential_states_are_known CHECK (state IN (1, 2, 3)),
    CONSTRAINT active_credentials_were_activated CHECK (state <> 2 OR activated_at IS NOT NULL)
);

CREATE TABLE credential_audit (
    audit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    account_id text NOT NULL,
    credential_id text NOT NULL,
    change text NOT NULL,                      -- created, activated, invalidated, enrolled, pairing_failed
    by_whom text NOT NULL,                     -- token subject, or 'operator'
    detail text
);

CREATE TABLE halts (
    scope text NOT NULL,
    subject text NOT NULL,                     -- '' for the venue
    at bigint NOT NULL,
    by_whom text NOT NULL,
    reason text NOT NULL,
    PRIMARY KEY (scope, subject),
    CONSTRAINT halt_scopes_are_known CHECK (scope IN ('venue', 'symbol', 'account')),
    CONSTRAINT venue_halts_name_no_subject CHECK ((scope = 'venue') = (subject = ''))
);

CREATE TABLE operator_audit (
    audit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    by_whom text NOT NULL,
    action text NOT NULL,
    detail text NOT NULL
);

CREATE TRIGGER history_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON credential_audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_changes_to_history();
CREATE TRIGGER history_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operator_audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_changes_to_history();
