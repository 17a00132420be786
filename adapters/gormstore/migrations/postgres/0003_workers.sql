-- What a remote worker said of itself is one JSON text: it is replaced as a whole, and read by id or by queue.
CREATE TABLE workers (
    worker_id     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    owner         TEXT COLLATE "C" NOT NULL,
    instance_id   TEXT COLLATE "C" NOT NULL,
    task_queue    TEXT COLLATE "C" NOT NULL,
    settings      BYTEA            NOT NULL,
    draining      BIGINT           NOT NULL,
    registered_at BIGINT           NOT NULL,
    seen_at       BIGINT           NOT NULL,
    UNIQUE (owner, instance_id)
);

CREATE INDEX workers_by_queue ON workers (task_queue, seen_at);
CREATE INDEX workers_by_time ON workers (seen_at);

-- A lease stays when it has ended, so that a repeated verdict gets the same answer; it goes with its workflow.
CREATE TABLE worker_leases (
    hash        TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- of the token
    task_id     TEXT COLLATE "C" NOT NULL,
    worker_id   TEXT COLLATE "C" NOT NULL,
    poll_id     TEXT COLLATE "C" NOT NULL,
    server      TEXT COLLATE "C" NOT NULL,
    namespace   TEXT COLLATE "C" NOT NULL,
    workflow_id TEXT COLLATE "C" NOT NULL,
    run_id      TEXT COLLATE "C" NOT NULL,
    activity_id BIGINT           NOT NULL,
    attempt     BIGINT           NOT NULL,
    claim_token BIGINT           NOT NULL,
    granted_at  BIGINT           NOT NULL,
    until       BIGINT           NOT NULL,
    deadline    BIGINT           NOT NULL,
    state       TEXT COLLATE "C" NOT NULL,
    ended       TEXT COLLATE "C" NOT NULL, -- why
    verdict     TEXT COLLATE "C" NOT NULL,
    retry_at    BIGINT           NOT NULL
);

CREATE INDEX worker_leases_by_task ON worker_leases (task_id, granted_at, hash);
CREATE INDEX worker_leases_by_workflow ON worker_leases (workflow_id);
CREATE INDEX worker_leases_open ON worker_leases (worker_id, hash) WHERE state IN ('held', 'ending');
CREATE INDEX worker_leases_by_end ON worker_leases (until, hash) WHERE state IN ('held', 'ending');

-- What waits, by who may take it.
CREATE INDEX activity_tasks_backlog ON activity_tasks (task_queue, namespace, name, package_version, scheduled_at, workflow_id, run_id, activity_id,
    state, not_before) WHERE state IN ('queued', 'parked');
