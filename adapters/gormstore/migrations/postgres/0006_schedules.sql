ALTER TABLE runs ADD COLUMN schedule_id TEXT COLLATE "C"; -- NULL: no schedule has started its chain

CREATE INDEX runs_by_schedule ON runs (namespace, schedule_id, started_at, run_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX runs_open_by_schedule ON runs (namespace, schedule_id, started_at, run_id)
    WHERE schedule_id IS NOT NULL AND status IN ('Running', 'Paused');

CREATE TABLE schedules (
    namespace     TEXT COLLATE "C" NOT NULL,
    schedule_id   TEXT COLLATE "C" NOT NULL,
    uid           TEXT COLLATE "C" NOT NULL,
    workflow_type TEXT COLLATE "C" NOT NULL,
    shard         SMALLINT         NOT NULL, -- of the uid (domain.WorkflowID.Shard)
    paused        BIGINT           NOT NULL,
    wake_at       BIGINT           NOT NULL, -- when a server must look at it; 0: never
    revision      BIGINT           NOT NULL,
    created_at    BIGINT           NOT NULL,
    request_key   TEXT COLLATE "C" NOT NULL, -- digest of the request that created it; empty: it had no key
    input         BYTEA,
    body          BYTEA            NOT NULL, -- JSON: the other settings, the creator, and where it stands
    PRIMARY KEY (namespace, schedule_id)
);

CREATE INDEX schedules_by_wake ON schedules (wake_at, namespace, schedule_id, shard) WHERE wake_at > 0;
CREATE INDEX schedules_by_request ON schedules (request_key, created_at) WHERE request_key <> '';

CREATE TABLE schedule_fires (
    uid         TEXT COLLATE "C" NOT NULL,
    n           BIGINT           NOT NULL, -- dense in its schedule
    nominal_at  BIGINT           NOT NULL,
    decided_at  BIGINT           NOT NULL,
    action      TEXT COLLATE "C" NOT NULL,
    reason      TEXT COLLATE "C" NOT NULL,
    workflow_id TEXT COLLATE "C" NOT NULL,
    run_id      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (uid, n)
);
