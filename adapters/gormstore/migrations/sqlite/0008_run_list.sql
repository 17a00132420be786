-- What moves on with each commit stands beside the head, which is written with each commit anyway: '' or a JSON list of
-- activity, type, attempt and step.
ALTER TABLE workflows ADD COLUMN current_step TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN failure_code TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN failure_message TEXT NOT NULL DEFAULT '';

CREATE INDEX runs_by_version ON runs (namespace, package_version, started_at, run_id);
CREATE INDEX runs_by_end ON runs (namespace, ended_at, run_id) WHERE ended_at > 0;
