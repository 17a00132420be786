package gormstore_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"aion/adapters/gormstore"
	"aion/domain/history"
)

// engine 19: an open task and an audit record of schema 3, the first that was released, are there after the migrations.
func TestStoreOfSchema3KeepsWhatItHolds(t *testing.T) {
	t.Parallel()
	o := at(filepath.Join(privateDir(t), "aion.db"))
	old, err := gormstore.OpenAt(t.Context(), o, 3)
	if err != nil {
		t.Fatal(err)
	}
	key := chains(1)[0]
	const task = `INSERT INTO activity_tasks (workflow_id, run_id, activity_id, attempt, state, owner, scheduled_at, not_before, namespace, task_queue,
		node, name, workflow_type, package_version, policy_failures, lost_in_row, timeout_ms, max_attempts, backoff_kind, input)
		VALUES ('%s', '%s', %s, 2, '%s', '%s', 5, 7, 'default', 'shell', 'gpu', 'make', 'ship', 'h', 1, 1, 9, 3, 'fixed', x'7b7d')`
	for _, statement := range []string{
		fmt.Sprintf(task, key.id, key.run, "0", "started", "server-1"), fmt.Sprintf(task, key.id, key.run, "1", "queued", ""),
		`INSERT INTO audit_log (at, subject, auth_mode, source, surface, action, namespace, target, outcome, request_id)
			VALUES (1, 'ada', 'token', 'x', 'mcp', 'start', 'default', 'w', 'ok', 'r')`,
	} {
		if err := old.Write(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.CloseWriter(); err != nil {
		t.Fatal(err)
	}
	s, err := gormstore.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tasks, err := s.Open(t.Context(), key.id)
	if err != nil || len(tasks) != 2 {
		t.Fatalf("%+v, %v", tasks, err)
	}
	for i, want := range []history.Task{{State: history.TaskStarted, Owner: "server-1"}, {State: history.TaskQueued}} {
		got := tasks[i]
		if got.State != want.State || got.Owner != want.Owner || got.Key.Attempt != 2 || got.TaskQueue != "shell" || got.Name != "make" ||
			got.PackageVersion != "h" || got.ScheduledAt.UnixMicro() != 5 || got.NotBefore.UnixMicro() != 7 || got.Token != 0 {
			t.Errorf("%+v", got)
		}
	}
	if err := s.Write(t.Context(), `UPDATE audit_log_unchained SET subject = 'ada' WHERE subject = 'ada'`); err != nil {
		t.Error(err)
	}
	if errs := s.Append(t.Context(), []history.Commit{chains(2)[1].next()}); errs[0] != nil {
		t.Error(errs[0])
	}
}
