-- Lets this transaction read tables from end to end, which a connection of a station does not: the proof of the ledger looks at every row.
SELECT set_config('enable_seqscan', 'on', true)
