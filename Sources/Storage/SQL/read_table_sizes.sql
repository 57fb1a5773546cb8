-- How large each table is and how many dead rows it has, its partitions counted with it: for watching that nothing grows without bound.
SELECT c.relname::text, sum(pg_total_relation_size(p.relid))::bigint, sum(COALESCE(s.n_live_tup, 0))::bigint, sum(COALESCE(s.n_dead_tup, 0))::bigint
FROM pg_class c
CROSS JOIN LATERAL (SELECT c.oid AS relid UNION ALL SELECT t.relid FROM pg_partition_tree(c.oid) t WHERE t.isleaf AND t.relid <> c.oid) p
LEFT JOIN pg_stat_user_tables s ON s.relid = p.relid
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
GROUP BY c.relname
ORDER BY 2 DESC
