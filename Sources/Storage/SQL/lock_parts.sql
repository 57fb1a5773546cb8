-- No part leaves while this transaction reads: before it sees anything, so that what it sees of the parts and of their rows is of one moment.
LOCK TABLE orders, executions, ledger_entries IN ACCESS SHARE MODE
