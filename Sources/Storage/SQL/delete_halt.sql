-- Ends a halt.
-- $1 scope text, $2 subject text
DELETE FROM halts WHERE scope = $1 AND subject = $2
