-- A started task is held by its owner's claim: the seq of the start that took it, and until when it holds. What an attempt
-- needs to run is in the history; a task names what waits for whom.
CREATE TABLE tasks (
    workflow_id     TEXT    NOT NULL,
    run_id          TEXT    NOT NULL,
    activity_id     INTEGER NOT NULL,
    attempt         INTEGER NOT NULL,
    state           TEXT    NOT NULL,
    owner           TEXT    NOT NULL,
    claim_token     INTEGER NOT NULL,
    claim_until     INTEGER NOT NULL,
    scheduled_at    INTEGER NOT NULL,
    not_before      INTEGER NOT NULL,
    namespace       TEXT    NOT NULL,
    task_queue      TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    package_version TEXT    NOT NULL,
    PRIMARY KEY (workflow_id, run_id, activity_id)
) STRICT, WITHOUT ROWID;

INSERT INTO tasks SELECT workflow_id, run_id, activity_id, attempt, state, owner, 0, 0, scheduled_at, not_before, namespace, task_queue, name,
    package_version FROM activity_tasks;
DROP TABLE activity_tasks;
ALTER TABLE tasks RENAME TO activity_tasks;

-- A task that is granted in the commit that adds it is in none of these indexes: each commit of a busy server adds one and
-- ends one. The started ones are read by a scan of the open tasks, at a start of the server and after a failed commit.
CREATE INDEX activity_tasks_waiting ON activity_tasks (scheduled_at, workflow_id, run_id, activity_id, state, not_before)
    WHERE state IN ('queued', 'parked');
CREATE INDEX activity_tasks_due ON activity_tasks (not_before) WHERE state = 'queued';
