-- Halts in force. Read under a shard's lock; a halt commits through every shard, so none is missed.
SELECT scope, subject, reason FROM halts
