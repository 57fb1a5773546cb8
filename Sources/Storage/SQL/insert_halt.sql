-- Halts a venue, symbol or account. Again = the newer reason.
-- $1 scope text, $2 subject text, $3 now bigint, $4 by whom text, $5 reason text
INSERT INTO halts (scope, subject, at, by_whom, reason) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (scope, subject) DO UPDATE SET at = EXCLUDED.at, by_whom = EXCLUDED.by_whom, reason = EXCLUDED.reason
