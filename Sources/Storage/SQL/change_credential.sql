-- Moves a credential from one state to another; its challenge is used up. No row = it was not in that state any more.
-- $1 account id text, $2 credential id text, $3 from state smallint, $4 to state smallint, $5 now bigint
UPDATE credentials SET state = $4::smallint, challenge = NULL, challenge_expires_at = NULL,
    activated_at = CASE WHEN $4::smallint = 2 THEN $5::bigint ELSE activated_at END,
    invalidated_at = CASE WHEN $4::smallint = 3 THEN $5::bigint ELSE invalidated_at END
WHERE account_id = $1 AND credential_id = $2 AND state = $3
