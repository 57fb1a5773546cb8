-- One moment for every check, beside routers that go on.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY
