-- Why a part cannot be detached; absent: it can.
-- $1 part text
SELECT part_obstacle($1)
