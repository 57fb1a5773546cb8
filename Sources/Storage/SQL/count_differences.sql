-- For /metrics: how many differences the newest comparison that has ended found; -1 where none has.
SELECT COALESCE((
    SELECT CASE WHEN r.outcome IN ('agrees', 'differs') THEN (SELECT count(*) FROM reconciliation_differences d WHERE d.reconciliation_id = r.reconciliation_id) ELSE -1 END
    FROM reconciliations r WHERE r.ended_at IS NOT NULL ORDER BY r.reconciliation_id DESC LIMIT 1), -1)::bigint
