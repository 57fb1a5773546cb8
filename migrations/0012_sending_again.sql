-- What is needed to send an order again that the venue has lost in a reset of the sequence numbers. Absent on an order's normal way: a row grows by nothing.
ALTER TABLE orders
    ADD COLUMN unanswered_in bigint,           -- in doubt before the venue spoke of it: generation of the session's numbers in which it was numbered; 0 once it has spoken
    ADD COLUMN resends smallint;               -- times that it was to be sent again (PossResend)

-- OrdStatusReqID (tag 790): which of our questions a status answers.
ALTER TABLE inbox ADD COLUMN status_question text;
