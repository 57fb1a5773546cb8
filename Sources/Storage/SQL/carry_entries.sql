-- Keeps what the entries of a part sum to for each balance, before it leaves.
-- $1 part text
SELECT carry_entries($1)
