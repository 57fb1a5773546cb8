-- The parts of each table, oldest first: bounds as days (absent: open), rows as PostgreSQL last counted them, bytes of rows and of indexes.
SELECT p.parent, p.part, p.begins::text, p.ends::text, p.is_leaving, greatest(c.reltuples, 0)::bigint, pg_table_size(c.oid), pg_indexes_size(c.oid)
FROM parts p JOIN pg_class c ON c.oid = p.part_oid
ORDER BY p.parent DESC, p.begins NULLS FIRST
