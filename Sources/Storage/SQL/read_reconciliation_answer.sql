-- How far the venue's answer to an OrderMassStatusRequest (MassStatusReqID 'R<id>', tag 584) has come: how many reports, whether the last is among them
-- (912=Y, or as many as TotNumReports, 911), whether all of it and all before it is settled, and with which words it was refused, if it was.
-- $1 reconciliation id bigint
WITH asked AS MATERIALIZED (SELECT * FROM reconciliations WHERE reconciliation_id = $1), received AS MATERIALIZED (
    SELECT i.inbox_id, i.kind, i.order_id, i.text, i.reject_reason, i.message, fix_has(i.message, '584=R' || a.reconciliation_id) AS is_answer,
        i.kind = 6 AND i.order_id = '' AND fix_has(i.message, '45=' || a.number) AS is_refusal
    FROM asked a CROSS JOIN shards s
    CROSS JOIN LATERAL (SELECT * FROM inbox WHERE shard = s.shard AND inbox_id >= a.first_inbox OFFSET 0) i WHERE i.session_id = a.session_id
), answers AS MATERIALIZED (
    SELECT count(*) AS reports, max(inbox_id) AS last, bool_or(fix_has(message, '912=Y')) AS has_last,
        max(substring(encode(message, 'escape') FROM chr(1) || '911=([0-9]{1,18})' || chr(1))::bigint) AS total
    FROM received WHERE is_answer
)
SELECT reports, COALESCE(reports > 0 AND (has_last OR reports >= total), false),
    NOT EXISTS (SELECT FROM shards s JOIN inbox i ON i.shard = s.shard AND i.inbox_id > s.settled_inbox AND i.inbox_id <= answers.last),
    (SELECT COALESCE(text, 'reason ' || reject_reason, 'no reason given') FROM received WHERE is_refusal LIMIT 1)
FROM answers
