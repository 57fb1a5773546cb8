-- Comparisons of a session that are not at their end, oldest first.
-- $1 session id text
SELECT reconciliation_id, requested_by, requested_at, sent_at, ended_at, outcome, reports, detail
FROM reconciliations WHERE session_id = $1 AND ended_at IS NULL ORDER BY reconciliation_id
