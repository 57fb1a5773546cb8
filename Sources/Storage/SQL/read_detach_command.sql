-- The command that detaches a part beside live routers; it cannot take its names as parameters, nor run within a transaction. One that was interrupted
-- is finished.
-- $1 part text
SELECT format('ALTER TABLE %I DETACH PARTITION %I %s', parent, part, CASE WHEN is_leaving THEN 'FINALIZE' ELSE 'CONCURRENTLY' END)
FROM parts WHERE part = $1
