-- The credentials of an account, newest first.
-- $1 account id text
SELECT credential_id, account_id, key_alias, public_key_spki, state, challenge, challenge_expires_at, created_at, activated_at, invalidated_at
FROM credentials WHERE account_id = $1 ORDER BY created_at DESC, credential_id DESC
