-- Which keys of a batch are used already, what was answered, and where their orders stand now. OFFSET 0 keeps each look-up one by the whole key,
-- whatever the statistics say.
-- $1 account ids text[], $2 keys uuid[], pairwise and distinct; $3 text, $4 text: ids of orders of such keys are not less than that, and less than that
SELECT k.account_id, k.key, k.outcome, k.fingerprint, k.order_id, k.http_status, k.answer, o.status, k.created_at
FROM unnest($1::text[], $2::uuid[]) AS wanted (account_id, key)
CROSS JOIN LATERAL (SELECT * FROM idempotency_keys WHERE account_id = wanted.account_id AND key = wanted.key OFFSET 0) k
LEFT JOIN LATERAL (SELECT status FROM orders WHERE order_id = k.order_id AND order_id >= $3 AND order_id < $4 OFFSET 0) o ON true
