-- Halts in force with who made them and when.
SELECT scope, subject, reason, by_whom, at FROM halts ORDER BY scope, subject
