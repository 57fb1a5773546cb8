-- What symbols stand for, as an operator has it. Each symbol stands there once.
-- $1 symbols text[], $2 names text[], $3 exchanges text[], $4 now bigint
INSERT INTO instruments AS i (symbol, name, exchange, updated_at)
SELECT u.*, $4::bigint FROM unnest($1::text[], $2::text[], $3::text[]) AS u (symbol, name, exchange)
ON CONFLICT (symbol) DO UPDATE SET name = excluded.name, exchange = excluded.exchange, updated_at = excluded.updated_at
WHERE (i.name, i.exchange) <> (excluded.name, excluded.exchange)
