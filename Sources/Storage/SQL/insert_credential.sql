-- A new credential.
-- $1 account id text, $2 credential id text, $3 alias text, $4 SPKI bytea, $5 state smallint, $6 challenge bytea or null, $7 challenge expires bigint or null, $8 now bigint
INSERT INTO credentials (account_id, credential_id, key_alias, public_key_spki, state, challenge, challenge_expires_at, created_at, activated_at)
VALUES ($1, $2, $3, $4, $5::smallint, $6, $7, $8, CASE WHEN $5::smallint = 2 THEN $8::bigint END)
