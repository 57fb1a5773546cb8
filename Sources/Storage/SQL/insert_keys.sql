-- Claims idempotency keys. The primary key one_key_one_order is the proof that a key is claimed once.
-- $1 account ids text[], $2 keys uuid[], $3 created_at bigint[], $4 outcomes smallint[], $5 fingerprints bytea[], $6 order ids text[],
-- $7 http statuses smallint[], $8 answers bytea[]
INSERT INTO idempotency_keys (account_id, key, created_at, outcome, fingerprint, order_id, http_status, answer)
SELECT * FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::smallint[], $5::bytea[], $6::text[], $7::smallint[], $8::bytea[])
