-- The order of writing; a reader goes on from a number.
CREATE TABLE run_changes (
    n           INTEGER NOT NULL PRIMARY KEY,
    at          INTEGER NOT NULL,
    namespace   TEXT    NOT NULL,
    workflow_id TEXT    NOT NULL,
    generation  INTEGER NOT NULL
) STRICT;
