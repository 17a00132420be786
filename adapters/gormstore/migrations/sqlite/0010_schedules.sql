ALTER TABLE runs ADD COLUMN schedule_id TEXT; -- NULL: no schedule has started its chain

CREATE INDEX runs_by_schedule ON runs (namespace, schedule_id, started_at, run_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX runs_open_by_schedule ON runs (namespace, schedule_id, started_at, run_id)
    WHERE schedule_id IS NOT NULL AND status IN ('Running', 'Paused');

CREATE TABLE schedules (
    namespace     TEXT    NOT NULL,
    schedule_id   TEXT    NOT NULL,
    uid           TEXT    NOT NULL,
    workflow_type TEXT    NOT NULL,
    paused        INTEGER NOT NULL,
    wake_at       INTEGER NOT NULL, -- when a server must look at it; 0: never
    revision      INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    request_key   TEXT    NOT NULL, -- digest of the request that created it; empty: it had no key
    input         BLOB,
    body          BLOB    NOT NULL, -- JSON: the other settings, the creator, and where it stands
    PRIMARY KEY (namespace, schedule_id)
) STRICT;

CREATE INDEX schedules_by_wake ON schedules (wake_at, namespace, schedule_id) WHERE wake_at > 0;
CREATE INDEX schedules_by_request ON schedules (request_key, created_at) WHERE request_key <> '';

CREATE TABLE schedule_fires (
    uid         TEXT    NOT NULL,
    n           INTEGER NOT NULL, -- dense in its schedule
    nominal_at  INTEGER NOT NULL,
    decided_at  INTEGER NOT NULL,
    action      TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    workflow_id TEXT    NOT NULL,
    run_id      TEXT    NOT NULL,
    PRIMARY KEY (uid, n)
) STRICT, WITHOUT ROWID;
