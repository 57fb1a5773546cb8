-- A new account. An id that exists is refused by the primary key.
-- $1 account id text, $2 shard smallint, $3 created_at bigint
INSERT INTO accounts (account_id, shard, created_at) VALUES ($1, $2, $3)
