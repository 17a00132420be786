package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"aion/adapters/web/wire"
	"aion/application/tasks"
	"aion/domain/task"
	"aion/ports"
)

type taskEntry struct {
	TaskID        string        `json:"task_id"`
	Owner         string        `json:"owner"`
	Namespace     string        `json:"namespace"`
	Status        string        `json:"status"`
	StatusMessage string        `json:"status_message"`
	WorkflowID    wire.Nullable `json:"workflow_id"`
	RunID         wire.Nullable `json:"run_id"`
	CreatedAt     wire.Stamp    `json:"created_at"`
	UpdatedAt     wire.Stamp    `json:"updated_at"`
	ExpiresAt     wire.Stamp    `json:"expires_at"` // null while it works
}

func toTask(t task.Task) taskEntry {
	return taskEntry{
		TaskID: string(t.ID), Owner: t.Owner, Namespace: string(t.Namespace), Status: string(t.State), StatusMessage: t.StatusMessage,
		WorkflowID: wire.Nullable(t.WorkflowID), RunID: wire.Nullable(t.RunID), CreatedAt: wire.Stamp(t.CreatedAt),
		UpdatedAt: wire.Stamp(t.UpdatedAt), ExpiresAt: wire.Stamp(t.ExpiresAt),
	}
}

func (a *API) taskRoutes() []route {
	const one = "/tasks/:task_id"
	return []route{
		{method: http.MethodGet, path: "/tasks", grant: authenticated, query: []string{"status", "owner", "limit", "cursor"}, serve: a.listTasks},
		{method: http.MethodGet, path: one, grant: authenticated, serve: a.describeTask},
		{method: http.MethodPost, path: one + "/cancel", grant: authenticated, body: []string{}, action: "task.cancel", serve: a.cancelTask},
	}
}

func (a *API) listTasks(ctx context.Context, q *request) (answer, error) {
	req := tasks.ListRequest{Limit: q.limit(), All: q.query.one("owner", "self", "all") == "all"}
	if q.query.has("status") {
		req.State = task.State(q.query.one("status", string(task.Working), string(task.Completed), string(task.Cancelled), string(task.Failed)))
	}
	at, id, err := q.afterTime()
	if err == nil {
		err = q.whole()
	}
	if err != nil {
		return answer{}, err
	}
	if id != "" {
		req.After = &ports.MCPTaskPosition{CreatedAt: at, ID: task.ID(id)}
	}
	found, more, err := a.Tasks.List(ctx, q.who, req)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Tasks      []taskEntry   `json:"tasks"`
		NextCursor wire.Nullable `json:"next_cursor"`
	}{Tasks: make([]taskEntry, 0, len(found))}
	for _, t := range found {
		out.Tasks = append(out.Tasks, toTask(t))
	}
	if more {
		last := found[len(found)-1]
		out.NextCursor = wire.Nullable(q.next(strconv.FormatInt(last.CreatedAt.UnixMicro(), 10) + " " + string(last.ID)))
	}
	return answer{value: out}, nil
}

func (a *API) describeTask(ctx context.Context, q *request) (answer, error) {
	t, err := a.Tasks.Get(ctx, q.who, q.param("task_id"))
	return answer{value: toTask(t)}, err
}

func (a *API) cancelTask(ctx context.Context, q *request) (answer, error) {
	t, err := a.Tasks.Cancel(ctx, q.who, q.param("task_id"))
	return answer{value: toTask(t)}, err
}
