-- The records that were kept before they were chained stay readable.
ALTER TABLE audit_log RENAME TO audit_log_unchained;

CREATE TABLE audit_log (
    id           INTEGER NOT NULL PRIMARY KEY, -- in the order of adding: each record is one page of a commit, and no index
    chain        TEXT    NOT NULL,
    n            INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    subject      TEXT    NOT NULL,
    auth_mode    TEXT    NOT NULL,
    grant_source TEXT    NOT NULL,
    surface      TEXT    NOT NULL,
    action       TEXT    NOT NULL,
    namespace    TEXT    NOT NULL,
    target       TEXT    NOT NULL,
    outcome      TEXT    NOT NULL,
    code         TEXT    NOT NULL,
    request_id   TEXT    NOT NULL,
    remote       TEXT    NOT NULL,
    detail       BLOB,
    prev         TEXT    NOT NULL,
    hash         TEXT    NOT NULL
) STRICT;
