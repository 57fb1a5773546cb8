-- A comparison is at its end.
-- $1 reconciliation id bigint, $2 now bigint, $3 outcome text, $4 reports bigint, $5 detail text or null
UPDATE reconciliations SET ended_at = $2, outcome = $3, reports = $4, detail = $5 WHERE reconciliation_id = $1 AND ended_at IS NULL
