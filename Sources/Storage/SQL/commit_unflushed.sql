-- Lets this transaction's COMMIT return before its WAL is on disk: for what the other side repeats when it was lost. Order is kept: whatever is committed
-- later and flushed takes this with it.
SELECT set_config('synchronous_commit', 'off', true)
