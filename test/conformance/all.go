package conformance

import (
	"testing"

	"aion/ports"
	"aion/test/fake"
)

// Store is every store port but the one for documents.
type Store = fake.Backend

// All runs the suite of every port that Store joins.
func All(t *testing.T, open func(testing.TB) Store) {
	suite := func(name string, f func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t)
		})
	}
	suite("EventStore", func(t *testing.T) { EventStore(t, func(tb testing.TB) ports.EventStore { return open(tb) }) })
	suite("RunIndex", func(t *testing.T) { RunIndex(t, func(tb testing.TB) Runs { return open(tb) }) })
	suite("TaskStore", func(t *testing.T) { TaskStore(t, func(tb testing.TB) Tasks { return open(tb) }) })
	suite("TimerStore", func(t *testing.T) { TimerStore(t, func(tb testing.TB) Timers { return open(tb) }) })
	suite("OutboxStore", func(t *testing.T) { OutboxStore(t, func(tb testing.TB) Outbox { return open(tb) }) })
	suite("TranscriptStore", func(t *testing.T) { TranscriptStore(t, func(tb testing.TB) ports.TranscriptStore { return open(tb) }) })
	suite("DeploymentStore", func(t *testing.T) { DeploymentStore(t, func(tb testing.TB) Deployments { return open(tb) }) })
	suite("NamespaceStore", func(t *testing.T) { NamespaceStore(t, func(tb testing.TB) Namespaces { return open(tb) }) })
	suite("MCPTaskStore", func(t *testing.T) { MCPTaskStore(t, func(tb testing.TB) MCPTasks { return open(tb) }) })
	suite("WorkerStores", func(t *testing.T) { WorkerStores(t, func(tb testing.TB) Workers { return open(tb) }) })
	suite("ScheduleStore", func(t *testing.T) { ScheduleStore(t, func(tb testing.TB) Schedules { return open(tb) }) })
	suite("ForeignTexts", func(t *testing.T) { ForeignTexts(t, open) })
	suite("RetentionStore", func(t *testing.T) { RetentionStore(t, open) })
	suite("AuditLog", func(t *testing.T) { AuditLog(t, open) })
}
