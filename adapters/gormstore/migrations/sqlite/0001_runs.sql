-- Times are microseconds since 1970-01-01 UTC; 0 or NULL is "none". JSON is kept as the bytes that came, hence BLOB.

CREATE TABLE workflows (
    id            TEXT    NOT NULL PRIMARY KEY,
    namespace     TEXT    NOT NULL,
    workflow_type TEXT    NOT NULL,
    run_id        TEXT    NOT NULL, -- the latest run
    status        TEXT    NOT NULL, -- of the latest run
    head_seq      INTEGER NOT NULL,
    started_at    INTEGER NOT NULL,
    closed_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    workflow_id        TEXT    NOT NULL,
    generation         INTEGER NOT NULL,
    run_id             TEXT    NOT NULL,
    namespace          TEXT    NOT NULL,
    workflow_type      TEXT    NOT NULL,
    package_version    TEXT    NOT NULL,
    status             TEXT    NOT NULL,
    paused_reason      TEXT    NOT NULL,
    started_at         INTEGER NOT NULL,
    ended_at           INTEGER NOT NULL,
    previous_run_id    TEXT    NOT NULL,
    parent_workflow_id TEXT,
    parent_run_id      TEXT,
    parent_child       INTEGER,
    labels             BLOB,
    first_seq          INTEGER NOT NULL,
    outcome            TEXT    NOT NULL,
    UNIQUE (workflow_id, generation)
) STRICT;

CREATE INDEX runs_by_start ON runs (namespace, started_at, run_id);
CREATE INDEX runs_by_status ON runs (namespace, status, started_at, run_id);
CREATE INDEX runs_by_type ON runs (namespace, workflow_type, started_at, run_id);
CREATE INDEX runs_open_by_version ON runs (package_version, started_at, run_id) WHERE status IN ('Running', 'Paused');

CREATE TABLE events (
    workflow_id TEXT    NOT NULL,
    seq         INTEGER NOT NULL,
    run_id      TEXT    NOT NULL,
    type        TEXT    NOT NULL,
    recorded_at INTEGER NOT NULL,
    data        BLOB    NOT NULL,
    PRIMARY KEY (workflow_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE activity_tasks (
    workflow_id        TEXT    NOT NULL,
    run_id             TEXT    NOT NULL,
    activity_id        INTEGER NOT NULL,
    attempt            INTEGER NOT NULL,
    state              TEXT    NOT NULL,
    owner              TEXT    NOT NULL,
    scheduled_at       INTEGER NOT NULL,
    not_before         INTEGER NOT NULL,
    namespace          TEXT    NOT NULL,
    task_queue         TEXT    NOT NULL,
    node               TEXT    NOT NULL,
    name               TEXT    NOT NULL,
    workflow_type      TEXT    NOT NULL,
    package_version    TEXT    NOT NULL,
    policy_failures    INTEGER NOT NULL,
    lost_in_row        INTEGER NOT NULL,
    timeout_ms         INTEGER NOT NULL,
    max_attempts       INTEGER, -- NULL: no retry policy, nor any of the five below
    backoff_kind       TEXT,
    backoff_delay_ms   INTEGER,
    backoff_initial_ms INTEGER,
    backoff_multiplier REAL,
    backoff_max_ms     INTEGER,
    input              BLOB,
    PRIMARY KEY (workflow_id, run_id, activity_id)
) STRICT, WITHOUT ROWID;

-- A task that is granted in the commit that adds it is in the last of these indexes only.
CREATE INDEX activity_tasks_waiting ON activity_tasks (scheduled_at, workflow_id, run_id, activity_id, state, not_before)
    WHERE state IN ('queued', 'parked');
CREATE INDEX activity_tasks_due ON activity_tasks (not_before) WHERE state = 'queued';
CREATE INDEX activity_tasks_held ON activity_tasks (owner) WHERE state = 'started';

CREATE TABLE timers (
    workflow_id TEXT    NOT NULL,
    run_id      TEXT    NOT NULL,
    timer_id    INTEGER NOT NULL,
    namespace   TEXT    NOT NULL,
    purpose     TEXT    NOT NULL,
    fire_at     INTEGER NOT NULL,
    PRIMARY KEY (workflow_id, run_id, timer_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX timers_by_time ON timers (fire_at);

CREATE TABLE outbox (
    n           INTEGER NOT NULL PRIMARY KEY, -- order of posting
    id          TEXT    NOT NULL UNIQUE,
    namespace   TEXT    NOT NULL,
    workflow_id TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    body        BLOB
) STRICT;

CREATE TABLE idempotency_keys (
    scope       TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    request     TEXT    NOT NULL,
    workflow_id TEXT    NOT NULL,
    run_id      TEXT    NOT NULL,
    expires_at  INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_keys_by_end ON idempotency_keys (expires_at);

CREATE TABLE transcript_streams (
    id          INTEGER NOT NULL PRIMARY KEY,
    workflow_id TEXT    NOT NULL,
    run_id      TEXT    NOT NULL,
    activity_id INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    head        INTEGER NOT NULL, -- number of stored records
    worker_seq  INTEGER NOT NULL, -- the highest stored one
    UNIQUE (workflow_id, run_id, activity_id, attempt)
) STRICT;

CREATE TABLE transcript_events (
    stream     INTEGER NOT NULL,
    store_seq  INTEGER NOT NULL,
    worker_seq INTEGER NOT NULL,
    emitted_at INTEGER NOT NULL,
    agent_id   TEXT,             -- NULL: a command
    agent_role TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    name       TEXT    NOT NULL, -- role, tool, reason or source
    call_id    TEXT    NOT NULL,
    flag       INTEGER NOT NULL, -- partial or is_error
    body       BLOB,             -- text, input, output, detail or value
    PRIMARY KEY (stream, store_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE deployments (
    content_hash  TEXT    NOT NULL PRIMARY KEY,
    deployment_id TEXT    NOT NULL,
    workflow_type TEXT    NOT NULL,
    document_path TEXT    NOT NULL,
    deployed_at   INTEGER NOT NULL,
    source        BLOB    NOT NULL,
    imports       BLOB, -- JSON object: path to base64
    plan          BLOB    NOT NULL
) STRICT;

CREATE INDEX deployments_by_time ON deployments (deployed_at, content_hash);
CREATE INDEX deployments_by_type ON deployments (workflow_type, deployed_at, content_hash);

CREATE TABLE routes (
    workflow_type TEXT    NOT NULL PRIMARY KEY,
    content_hash  TEXT    NOT NULL,
    routed_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
