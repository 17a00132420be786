-- What a remote worker said of itself is one JSON text: it is replaced as a whole, and read by id or by queue.
CREATE TABLE workers (
    worker_id     TEXT    NOT NULL PRIMARY KEY,
    owner         TEXT    NOT NULL,
    instance_id   TEXT    NOT NULL,
    task_queue    TEXT    NOT NULL,
    settings      BLOB    NOT NULL,
    draining      INTEGER NOT NULL,
    registered_at INTEGER NOT NULL,
    seen_at       INTEGER NOT NULL,
    UNIQUE (owner, instance_id)
) STRICT;

CREATE INDEX workers_by_queue ON workers (task_queue, seen_at);
CREATE INDEX workers_by_time ON workers (seen_at);

-- A lease stays when it has ended, so that a repeated verdict gets the same answer; it goes with its workflow.
CREATE TABLE worker_leases (
    hash        TEXT    NOT NULL PRIMARY KEY, -- of the token
    task_id     TEXT    NOT NULL,
    worker_id   TEXT    NOT NULL,
    poll_id     TEXT    NOT NULL,
    server      TEXT    NOT NULL,
    namespace   TEXT    NOT NULL,
    workflow_id TEXT    NOT NULL,
    run_id      TEXT    NOT NULL,
    activity_id INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    claim_token INTEGER NOT NULL,
    granted_at  INTEGER NOT NULL,
    until       INTEGER NOT NULL,
    deadline    INTEGER NOT NULL,
    state       TEXT    NOT NULL,
    ended       TEXT    NOT NULL, -- why
    verdict     TEXT    NOT NULL,
    retry_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX worker_leases_by_task ON worker_leases (task_id, granted_at, hash);
CREATE INDEX worker_leases_by_workflow ON worker_leases (workflow_id);
CREATE INDEX worker_leases_open ON worker_leases (worker_id, hash) WHERE state IN ('held', 'ending');
CREATE INDEX worker_leases_by_end ON worker_leases (until, hash) WHERE state IN ('held', 'ending');

-- What waits, by who may take it.
CREATE INDEX activity_tasks_backlog ON activity_tasks (task_queue, namespace, name, package_version, scheduled_at, workflow_id, run_id, activity_id,
    state, not_before) WHERE state IN ('queued', 'parked');
