package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"aion/adapters/web/wire"
	"aion/application/queues"
	"aion/application/workers"
	"aion/domain"
	"aion/domain/awl/plan"
	"aion/domain/worker"
)

func (a *API) queueRoutes() []route {
	const in = "/namespaces/:ns"
	page := []string{"limit", "cursor"}
	get := func(path string, query []string, serve handler) route {
		return route{method: http.MethodGet, path: path, grant: namespaced, query: query, serve: serve}
	}
	return []route{
		get(in+"/queues", page, a.listQueues),
		get(in+"/queues/:queue", nil, a.describeQueue),
		get(in+"/workers", append([]string{"queue", "state"}, page...), a.listWorkers),
		get(in+"/workers/:worker_id", nil, a.describeWorker),
		get(in+"/unserved", page, a.listUnserved),
		{method: http.MethodGet, path: "/workers/contracts", grant: authenticated, query: []string{"namespace", "task_queue"}, serve: a.listContracts},
	}
}

// pageOf is a page of a list that lies whole in memory.
func pageOf[T, W any](q *request, member string, all []T, show func(T) W) (answer, error) {
	limit := q.limit()
	offset, err := q.offset()
	if err == nil {
		err = q.whole()
	}
	if err != nil {
		return answer{}, err
	}
	shown, next := q.portion(len(all), offset, limit)
	out := make([]W, 0, shown[1]-shown[0])
	for _, one := range all[shown[0]:shown[1]] {
		out = append(out, show(one))
	}
	return answer{value: map[string]any{member: out, "next_cursor": next}}, nil
}

type queueRow struct {
	TaskQueue string        `json:"task_queue"`
	Node      wire.Nullable `json:"node"`
	Actions   []queueAction `json:"actions"`
	Workers   []string      `json:"workers"`
}

type queueAction struct {
	Action      string        `json:"action"`
	Queued      int64         `json:"queued"`
	Oldest      wire.Stamp    `json:"oldest_queued_at"`
	Running     int64         `json:"running"`
	WorkersLive int           `json:"workers_live"`
	Reason      wire.Nullable `json:"unserved_reason"`
}

func toQueue(q queues.Queue) queueRow {
	out := queueRow{TaskQueue: q.TaskQueue, Node: wire.Nullable(q.Node), Actions: []queueAction{}, Workers: q.Workers}
	for _, a := range q.Actions {
		out.Actions = append(out.Actions, queueAction{a.Name, a.Queued, wire.Stamp(a.Oldest), a.Running, a.WorkersLive, wire.Nullable(a.Reason)})
	}
	return out
}

func (a *API) listQueues(ctx context.Context, q *request) (answer, error) {
	all, err := a.Queues.Queues(ctx, q.who, domain.Namespace(q.param("ns")))
	if err != nil {
		return answer{}, err
	}
	return pageOf(q, "queues", all, toQueue)
}

func (a *API) describeQueue(ctx context.Context, q *request) (answer, error) {
	ns, name := domain.Namespace(q.param("ns")), q.param("queue")
	all, err := a.Queues.Queues(ctx, q.who, ns)
	if err != nil {
		return answer{}, err
	}
	serving, err := a.Queues.List(ctx, q.who, ns, name)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		TaskQueue string        `json:"task_queue"`
		Nodes     []queueRow    `json:"nodes"`
		Workers   []workerShown `json:"workers"`
	}{TaskQueue: name, Nodes: []queueRow{}, Workers: []workerShown{}}
	for _, one := range all {
		if one.TaskQueue == name {
			out.Nodes = append(out.Nodes, toQueue(one))
		}
	}
	for _, w := range serving {
		if w.State != worker.Gone {
			out.Workers = append(out.Workers, toWorker(w))
		}
	}
	if len(out.Nodes) == 0 {
		return answer{}, worker.QueueNotFound(name)
	}
	return answer{value: out}, nil
}

type workerShown struct {
	WorkerID       string             `json:"worker_id"`
	Identity       string             `json:"identity"`
	TaskQueue      string             `json:"task_queue"`
	Node           wire.Nullable      `json:"node"`
	PinnedOnly     bool               `json:"pinned_only"`
	Namespaces     []domain.Namespace `json:"namespaces"` // that the caller may reach
	Actions        []string           `json:"actions"`
	SDK            wire.Nullable      `json:"sdk"`
	Held           int                `json:"held"`
	MaxConcurrency int                `json:"max_concurrency"`
	RegisteredAt   wire.Stamp         `json:"registered_at"`
	LastSeen       wire.Stamp         `json:"last_seen"`
	State          string             `json:"state"`
}

func toWorker(w queues.Shown) workerShown {
	return workerShown{
		WorkerID: w.ID, Identity: w.Identity, TaskQueue: w.TaskQueue, Node: wire.Nullable(w.Node), PinnedOnly: w.PinnedOnly, Namespaces: w.Namespaces,
		Actions: w.ActionNames(), SDK: wire.Nullable(w.SDK), Held: len(w.Held), MaxConcurrency: w.MaxConcurrency,
		RegisteredAt: wire.Stamp(w.RegisteredAt), LastSeen: wire.Stamp(w.SeenAt), State: string(w.State),
	}
}

// shownTo leaves out the namespaces of a worker that the caller does not reach.
func (q *request) shownTo(w queues.Shown) workerShown {
	out := toWorker(w)
	out.Namespaces = slices.DeleteFunc(slices.Clone(out.Namespaces), func(ns domain.Namespace) bool { return q.who.Reach(ns) != nil })
	return out
}

func (a *API) listWorkers(ctx context.Context, q *request) (answer, error) {
	state := ""
	if q.query.has("state") {
		state = q.query.one("state", string(worker.Live), string(worker.Draining), string(worker.Gone))
	}
	all, err := a.Queues.List(ctx, q.who, domain.Namespace(q.param("ns")), q.query.text("queue"))
	if err != nil {
		return answer{}, err
	}
	all = slices.DeleteFunc(all, func(w queues.Shown) bool { return state != "" && string(w.State) != state })
	return pageOf(q, "workers", all, q.shownTo)
}

type heldTask struct {
	TaskID     string          `json:"task_id"`
	WorkflowID string          `json:"workflow_id"`
	RunID      string          `json:"run_id"`
	ActivityID int64           `json:"activity_id"`
	Attempt    int             `json:"attempt"`
	GrantedAt  wire.Stamp      `json:"granted_at"`
	Until      wire.Stamp      `json:"lease_expires_at"`
	DeadlineAt wire.Stamp      `json:"deadline_at"`
	Progress   json.RawMessage `json:"progress"`
}

func (a *API) describeWorker(ctx context.Context, q *request) (answer, error) {
	w, err := a.Queues.Describe(ctx, q.who, domain.Namespace(q.param("ns")), q.param("worker_id"))
	if err != nil {
		return answer{}, err
	}
	out := struct {
		workerShown
		Ineligible []workers.Finding `json:"ineligible"`
		Undeclared []string          `json:"undeclared"`
		Tasks      []heldTask        `json:"tasks"`
	}{q.shownTo(w), append([]workers.Finding{}, w.Contract.Ineligible...), append([]string{}, w.Contract.Undeclared...), []heldTask{}}
	for _, l := range w.Held {
		out.Tasks = append(out.Tasks, heldTask{
			TaskID: l.TaskID, WorkflowID: string(l.Key.WorkflowID), RunID: string(l.Key.RunID), ActivityID: l.Key.ActivityID, Attempt: l.Key.Attempt,
			GrantedAt: wire.Stamp(l.GrantedAt), Until: wire.Stamp(l.Until), DeadlineAt: wire.Stamp(l.Deadline), Progress: wire.Bounded(l.Progress.Value, wire.MaxValue),
		})
	}
	return answer{value: out}, nil
}

type unservedWork struct {
	ActivityType string              `json:"activity_type"`
	TaskQueue    string              `json:"task_queue"`
	Node         wire.Nullable       `json:"node"`
	Reason       string              `json:"reason"`
	Waiting      int64               `json:"waiting"`
	OldestAt     wire.Stamp          `json:"oldest_at"`
	Workflows    []domain.WorkflowID `json:"workflows"`
	Hint         string              `json:"hint"`
}

func (a *API) listUnserved(ctx context.Context, q *request) (answer, error) {
	all, err := a.Queues.Unserved(ctx, q.who, domain.Namespace(q.param("ns")))
	if err != nil {
		return answer{}, err
	}
	return pageOf(q, "unserved", all, func(u queues.Unserved) unservedWork {
		return unservedWork{u.Action, u.TaskQueue, wire.Nullable(u.Node), string(u.Reason), u.Waiting, wire.Stamp(u.Oldest), u.Workflows, u.Reason.Hint(u.Demand)}
	})
}

type declaredAction struct {
	Name         string            `json:"name"`
	InputSchema  json.RawMessage   `json:"input_schema"`
	OutputSchema json.RawMessage   `json:"output_schema"`
	Node         wire.Nullable     `json:"node"`
	TimeoutMS    *int64            `json:"timeout_ms"`
	Retry        *plan.Retry       `json:"retry"` // as it was written: count, and every_ms or backoff_ms
	DeclaredBody bool              `json:"declared_body"`
	Packages     []workers.Package `json:"packages"`
}

func (a *API) listContracts(ctx context.Context, q *request) (answer, error) {
	ns, queue := q.query.text("namespace"), q.query.text("task_queue")
	for _, name := range []string{"namespace", "task_queue"} {
		if !q.query.has(name) {
			q.query.faults.add("?"+name, "%s is missing", strings.ReplaceAll(name, "_", " "))
		}
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	all, err := a.Workers.Contracts(ctx, q.who, ns, queue)
	if err != nil {
		return answer{}, err
	}
	out := make([]declaredAction, 0, len(all))
	for _, d := range all {
		one := declaredAction{
			Name: d.Name, InputSchema: d.InputSchema, OutputSchema: d.OutputSchema, Node: wire.Nullable(d.Node), Retry: d.Retry,
			DeclaredBody: d.Body != nil, Packages: d.Packages,
		}
		if d.TimeoutMS > 0 {
			one.TimeoutMS = &d.TimeoutMS
		}
		out = append(out, one)
	}
	return answer{value: map[string]any{"actions": out}}, nil
}
