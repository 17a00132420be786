-- What retention looks for: workflows that have closed, and what may still need one.
CREATE INDEX workflows_closed ON workflows (namespace, closed_at, id) WHERE closed_at > 0;
CREATE INDEX runs_by_parent ON runs (namespace, parent_workflow_id, started_at, run_id) WHERE parent_workflow_id IS NOT NULL;
CREATE INDEX idempotency_keys_by_workflow ON idempotency_keys (workflow_id, expires_at);
