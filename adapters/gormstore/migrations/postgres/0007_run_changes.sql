-- epoch is the transaction that wrote the change: what is of an ended one, and of none before it that goes on, is read.
CREATE TABLE run_changes (
    epoch       BIGINT           NOT NULL DEFAULT pg_current_xact_id()::text::bigint,
    n           BIGINT           NOT NULL GENERATED ALWAYS AS IDENTITY,
    at          BIGINT           NOT NULL,
    namespace   TEXT COLLATE "C" NOT NULL,
    workflow_id TEXT COLLATE "C" NOT NULL,
    generation  BIGINT           NOT NULL,
    PRIMARY KEY (epoch, n)
);

CREATE INDEX run_changes_by_number ON run_changes (n);

-- A reader who begins before the first change stands behind this one.
INSERT INTO run_changes (at, namespace, workflow_id, generation) VALUES (0, '', '', 0);
