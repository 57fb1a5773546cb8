-- What is needed to send an order again that the venue has lost in a reset of the sequence numbers: in which numbers it was sent last, as long as the
-- venue has said nothing of it, and how often it was sent again. Absent on the normal way's end: a row grows by nothing there. Orders of before are absent
-- too, and never sent again.
ALTER TABLE orders
    ADD COLUMN unanswered_in bigint,           -- generation of the session's numbers in which it was numbered last; absent once the venue has spoken of it
    ADD COLUMN resends smallint;               -- times that it was to be sent again (PossResend)

-- OrdStatusReqID (tag 790): which of our questions a status answers.
ALTER TABLE inbox ADD COLUMN status_question text;
