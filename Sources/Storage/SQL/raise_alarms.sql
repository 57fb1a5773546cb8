-- What a person has to look at.
-- $1 at bigint, $2 kinds text[], $3 account ids text[], $4 order ids text[], $5 details text[]
INSERT INTO alarms (at, kind, account_id, order_id, detail)
SELECT $1, u.* FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS u
