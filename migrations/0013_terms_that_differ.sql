-- A comparison with the venue also finds open orders that it has with other numbers than are here: replaced in a time that a restore has lost.
ALTER TABLE reconciliation_differences
    DROP CONSTRAINT differences_are_known,
    ADD CONSTRAINT differences_are_known CHECK (what IN ('not_ours', 'not_at_venue', 'cum_qty', 'terms', 'open_at_venue'));
