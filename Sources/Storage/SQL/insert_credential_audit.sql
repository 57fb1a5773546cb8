-- Every change of a credential, with who made it.
-- $1 now bigint, $2 account id text, $3 credential id text, $4 change text, $5 by whom text, $6 detail text or null
INSERT INTO credential_audit (at, account_id, credential_id, change, by_whom, detail) VALUES ($1, $2, $3, $4, $5, $6)
