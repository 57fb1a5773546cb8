-- Uses a challenge up: one attempt each.
-- $1 account id text, $2 credential id text
UPDATE credentials SET challenge = NULL, challenge_expires_at = NULL WHERE account_id = $1 AND credential_id = $2 AND challenge IS NOT NULL
