CREATE TABLE namespaces (
    name                     TEXT    NOT NULL PRIMARY KEY,
    description              TEXT    NOT NULL,
    max_in_flight_activities INTEGER, -- NULL: the server's bound
    retention                INTEGER, -- microseconds; NULL: the server's
    created_at               INTEGER NOT NULL,
    created_by               TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Whatever was used before namespaces were registered exists.
INSERT INTO namespaces (name, description, created_at, created_by)
SELECT namespace, '', min(started_at), '' FROM runs GROUP BY namespace;
