-- A comparison as it stands.
-- $1 reconciliation id bigint
SELECT reconciliation_id, requested_by, requested_at, sent_at, ended_at, outcome, reports, detail FROM reconciliations WHERE reconciliation_id = $1
