-- What operators did.
-- $1 now bigint, $2 by whom text, $3 action text, $4 detail text
INSERT INTO operator_audit (at, by_whom, action, detail) VALUES ($1, $2, $3, $4)
