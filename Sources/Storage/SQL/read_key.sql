-- One key of an account: for look-up by key.
-- $1 account id text, $2 key uuid
SELECT k.account_id, k.key, k.outcome, k.fingerprint, k.order_id, k.http_status, k.answer, o.status, k.created_at
FROM idempotency_keys k LEFT JOIN orders o ON o.order_id = k.order_id
WHERE k.account_id = $1 AND k.key = $2
