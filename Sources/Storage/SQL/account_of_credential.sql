-- Whose a credential is: requests name it alone. No row = there is none of this id.
-- $1 credential id text
SELECT account_id FROM credentials WHERE credential_id = $1
