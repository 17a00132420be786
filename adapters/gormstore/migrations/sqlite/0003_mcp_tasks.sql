CREATE TABLE mcp_tasks (
    task_id        TEXT    NOT NULL PRIMARY KEY,
    owner          TEXT    NOT NULL,
    caller         BLOB    NOT NULL, -- JSON: who the start is recorded for
    namespace      TEXT    NOT NULL,
    tool           TEXT    NOT NULL,
    arguments      BLOB    NOT NULL,
    state          TEXT    NOT NULL,
    status_message TEXT    NOT NULL,
    workflow_id    TEXT,             -- NULL: not started
    run_id         TEXT,
    result         BLOB,             -- JSON: value, refusal; of a completed task
    error          TEXT,             -- reference of the cause in the log; of a failed task
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    expires_at     INTEGER,          -- NULL: working
    lease_until    INTEGER NOT NULL
) STRICT;

CREATE INDEX mcp_tasks_by_state ON mcp_tasks (state, owner);
CREATE INDEX mcp_tasks_unstarted ON mcp_tasks (task_id, lease_until) WHERE state = 'working' AND workflow_id IS NULL;
CREATE INDEX mcp_tasks_started ON mcp_tasks (task_id) WHERE state = 'working' AND workflow_id IS NOT NULL;
CREATE INDEX mcp_tasks_by_end ON mcp_tasks (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE audit_log (
    n          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    subject    TEXT    NOT NULL,
    auth_mode  TEXT    NOT NULL,
    source     TEXT    NOT NULL,
    surface    TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    namespace  TEXT    NOT NULL,
    target     TEXT    NOT NULL,
    outcome    TEXT    NOT NULL,
    request_id TEXT    NOT NULL
) STRICT;
