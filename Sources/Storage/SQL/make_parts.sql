-- Makes the parts of the coming weeks that a table is still without.
-- $1 table text, $2 now bigint, $3 days ahead int
SELECT make_parts($1, (to_timestamp($2::bigint / 1000.0) AT TIME ZONE 'UTC')::date + $3::int)
