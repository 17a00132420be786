package ports

import (
	"context"
	"time"

	"aion/domain/task"
)

// MCPTaskStore keeps the MCP tasks (mcp 6.2). A commit whose history.Idempotency names a task also records there what it
// starts, in the same change: it fails alone with task.Ended when that task does not work any more.
type MCPTaskStore interface {
	// CreateMCPTask stores a new working task, or refuses with task.TooMany when its owner has limit working ones.
	CreateMCPTask(ctx context.Context, t task.Task, limit int) error
	// MCPTask returns a task, or task.Unknown.
	MCPTask(ctx context.Context, id task.ID) (task.Task, error)
	// ChangeMCPTask replaces a task by what change makes of it, with nothing in between, and returns the stored one. An
	// error of change is returned as it is and changes nothing; task.Unknown when there is none. change must be free of side
	// effects and must not wait.
	ChangeMCPTask(ctx context.Context, id task.ID, change func(task.Task) (task.Task, error)) (task.Task, error)
	// WorkingMCPTasks returns the ids of working tasks, in order: a task itself may be large.
	WorkingMCPTasks(ctx context.Context, which WorkingMCPTasks) ([]task.ID, error)
	// DeleteMCPTasks removes at most limit tasks that have expired at now, and says how many it removed.
	DeleteMCPTasks(ctx context.Context, now time.Time, limit int) (int, error)
	// CountMCPTasks counts the stored tasks by state.
	CountMCPTasks(ctx context.Context) (map[task.State]int, error)
}

// MCPTaskList shows tasks to people.
type MCPTaskList interface {
	// MCPTasks returns tasks, newest first and among equals by id, with the members that a list
	// shows: ids, owner, namespace, tool, state and its times.
	MCPTasks(ctx context.Context, which MCPTaskFilter) ([]task.Task, error)
}

// MCPTaskFilter selects tasks that have not expired at Now. Zero members do not filter.
type MCPTaskFilter struct {
	Owner string
	State task.State
	Now   time.Time
	After *MCPTaskPosition
	Limit int
}

// MCPTaskPosition is a place in the order of MCPTasks.
type MCPTaskPosition struct {
	CreatedAt time.Time
	ID        task.ID
}

// WorkingMCPTasks selects working tasks.
type WorkingMCPTasks struct {
	Started bool      // those whose run is known, else those without
	LeaseBy time.Time // only those whose lease ends by then; zero: all
	After   task.ID   // only ids after this one
	Limit   int
}
