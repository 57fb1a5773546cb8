-- What the venue told us. The shard is the order's; a reject is matched by RefSeqNum to the message that it refuses.
-- $1 session id text, $2 generation bigint, $3 received_at bigint, $4 first inbox id bigint, $5 numbers bigint[], $6 kinds smallint[], $7 order ids text[],
-- $8 request ids text[], $9 ExecIDs text[], $10 trade dates text[], $11 exec types text[], $12 order statuses text[], $13 last quantities bigint[], $14 last prices bigint[],
-- $15 cumulative quantities bigint[], $16 order quantities bigint[], $17 reject reasons bigint[], $18 symbols text[], $19 sides text[], $20 texts text[],
-- $21 refused numbers bigint[], $22 messages bytea[], $23 least order id text or null, $24 greatest order id text or null, $25 ExecRefIDs text[],
-- $26 status questions text[], $27 whether each is repeated (PossDup) boolean[]
INSERT INTO inbox (session_id, generation, received_at, inbox_id, number, shard, kind, order_id, request_id, exec_id, trade_date, exec_type, order_status,
    last_quantity, last_price, cumulative_quantity, order_quantity, reject_reason, symbol, side, text, message, exec_ref_id, status_question, is_repeated)
SELECT $1, $2, $3, $4 + u.place - 1, u.number, COALESCE(o.shard, s.shard, 0),
    CASE WHEN s.msg_type = 'D' THEN 3 WHEN s.msg_type = 'F' THEN 4 WHEN s.msg_type IN ('H', 'AF') THEN 6 WHEN s.msg_type = 'G' THEN 7 ELSE u.kind END,
    COALESCE(u.order_id, s.order_id), u.request_id, u.exec_id, u.trade_date, u.exec_type, u.order_status, u.last_quantity, u.last_price,
    u.cumulative_quantity, u.order_quantity, u.reject_reason, u.symbol, u.side, u.text, u.message, u.exec_ref_id, u.status_question,
    CASE WHEN u.is_repeated THEN true END
FROM unnest($5::bigint[], $6::smallint[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::bigint[], $14::bigint[],
    $15::bigint[], $16::bigint[], $17::bigint[], $18::text[], $19::text[], $20::text[], $21::bigint[], $22::bytea[], $25::text[], $26::text[],
    $27::boolean[])
    WITH ORDINALITY AS u (number, kind, order_id, request_id, exec_id, trade_date, exec_type, order_status, last_quantity, last_price, cumulative_quantity,
        order_quantity, reject_reason, symbol, side, text, refused, message, exec_ref_id, status_question, is_repeated, place)
LEFT JOIN LATERAL (SELECT shard FROM orders WHERE order_id = u.order_id AND order_id >= $23 AND order_id <= $24 OFFSET 0) o ON true
LEFT JOIN LATERAL (
    SELECT shard, msg_type, order_id FROM fix_sent WHERE session_id = $1 AND generation = $2 AND number = u.refused OFFSET 0
) s ON true
