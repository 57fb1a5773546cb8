-- Asks for a comparison with the venue; whoever speaks for its session makes it.
-- $1 session id text, $2 by whom text, $3 now bigint
INSERT INTO reconciliations (session_id, requested_by, requested_at) VALUES ($1, $2, $3) RETURNING reconciliation_id
