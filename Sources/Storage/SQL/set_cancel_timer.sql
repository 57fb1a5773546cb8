-- Arms an account's timer, or pushes it back: past its deadline all its open orders are cancelled.
-- $1 account id text, $2 shard smallint, $3 now bigint, $4 deadline bigint
INSERT INTO cancel_timers (account_id, shard, set_at, deadline) VALUES ($1, $2, $3, $4)
ON CONFLICT ON CONSTRAINT cancel_timers_pkey DO UPDATE SET set_at = EXCLUDED.set_at, deadline = EXCLUDED.deadline
