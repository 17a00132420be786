package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"aion/adapters/web/jsontext"
	"aion/adapters/web/wire"
	"aion/application/workers"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/worker"
)

// pollTimeout is the longest wait of a poll and what its answer needs besides.
const pollTimeout = 90 * time.Second

// maxPollWait is the longest wait of a poll.
const maxPollWait = 60_000

// maxBeats bounds the tasks of one heartbeat, and maxProgress what is said of one.
const (
	maxBeats    = worker.MaxConcurrency
	maxProgress = 4 << 10
)

func (a *API) workerRoutes() []route {
	const one = "/workers/:worker_id"
	const task = one + "/tasks/:task_id"
	post := func(path string, body []string, serve handler) route {
		return route{method: http.MethodPost, path: path, grant: authenticated, body: body, serve: serve}
	}
	poll := post(one+"/poll", []string{"poll_id", "max_tasks", "wait_ms"}, a.pollWorker)
	poll.timeout = pollTimeout
	return []route{
		post("/workers", []string{
			"instance_id", "identity", "namespaces", "task_queue", "node?", "pinned_only?", "max_concurrency", "sdk?", "actions",
		}, a.registerWorker),
		poll,
		post(one+"/heartbeat", []string{"tasks?"}, a.heartbeatWorker),
		post(one+"/drain", []string{}, a.drainWorker),
		{method: http.MethodDelete, path: one, grant: authenticated, serve: a.endWorker},
		post(task+"/extend", []string{"lease_token", "lease_ms"}, a.extendLease),
		post(task+"/complete", []string{"lease_token", "result?"}, a.completeTask),
		post(task+"/fail", []string{"lease_token", "class", "message", "code?", "details?"}, a.failTask),
		post(task+"/events", []string{"lease_token", "events"}, a.publishEvents),
		post(task+"/release", []string{"lease_token"}, a.releaseTask),
	}
}

func (a *API) registerWorker(ctx context.Context, q *request) (answer, error) {
	b := &q.body
	req := workers.Registration{InstanceID: b.text("instance_id"), Namespaces: b.list("namespaces")}
	req.Identity, req.TaskQueue, req.Node, req.SDK = b.text("identity"), b.text("task_queue"), b.free("node"), b.free("sdk")
	req.PinnedOnly = b.truth("pinned_only")
	req.MaxConcurrency = int(b.whole("max_concurrency", 0, 1, worker.MaxConcurrency))
	for _, one := range b.objects("actions", "name", "input_schema?", "output_schema?") {
		req.Actions = append(req.Actions, worker.Action{
			Name: one.text("name"), InputSchema: one.payload("input_schema"), OutputSchema: one.payload("output_schema"),
		})
		b.takes("actions", &one)
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	r, err := a.Workers.Register(ctx, q.who, req)
	if err != nil {
		return answer{}, err
	}
	out := answer{value: struct {
		WorkerID    string            `json:"worker_id"`
		Heartbeat   int64             `json:"heartbeat_interval_ms"`
		LeaseTTL    int64             `json:"lease_ttl_ms"`
		MaxPollWait int64             `json:"max_poll_wait_ms"`
		Ineligible  []workers.Finding `json:"ineligible"`
		Undeclared  []string          `json:"undeclared"`
	}{
		r.Worker.ID, r.Heartbeat.Milliseconds(), r.LeaseTTL.Milliseconds(), r.MaxPollWait.Milliseconds(),
		append([]workers.Finding{}, r.Ineligible...), append([]string{}, r.Undeclared...),
	}}
	if r.Fresh {
		out.status = http.StatusCreated
	}
	return out, nil
}

type givenTask struct {
	TaskID         string            `json:"task_id"`
	LeaseToken     string            `json:"lease_token"`
	LeaseExpiresAt wire.Stamp        `json:"lease_expires_at"`
	DeadlineAt     wire.Stamp        `json:"deadline_at"`
	Namespace      string            `json:"namespace"`
	TaskQueue      string            `json:"task_queue"`
	Node           wire.Nullable     `json:"node"`
	WorkflowType   string            `json:"workflow_type"`
	PackageVersion string            `json:"package_version"`
	WorkflowID     string            `json:"workflow_id"`
	RunID          string            `json:"run_id"`
	ActivityID     int64             `json:"activity_id"`
	Attempt        int               `json:"attempt"`
	IdempotencyKey string            `json:"idempotency_key"`
	Action         string            `json:"action"`
	Input          json.RawMessage   `json:"input"`
	Config         givenConfig       `json:"config"`
	Labels         map[string]string `json:"labels"`
}

type givenConfig struct {
	TimeoutMS *int64        `json:"timeout_ms"` // null: no bound
	Retry     *action.Retry `json:"retry"`      // null: one attempt
}

func toGiven(g workers.Given) givenTask {
	d := g.Dispatch
	out := givenTask{
		TaskID: g.Lease.TaskID, LeaseToken: g.LeaseToken, LeaseExpiresAt: wire.Stamp(g.Lease.Until), DeadlineAt: wire.Stamp(g.Lease.Deadline),
		Namespace: string(d.Namespace), TaskQueue: d.TaskQueue, Node: wire.Nullable(d.Node), WorkflowType: g.WorkflowType, PackageVersion: g.Version,
		WorkflowID: string(d.Key.WorkflowID), RunID: string(d.Key.RunID), ActivityID: d.Key.ActivityID, Attempt: d.Key.Attempt,
		IdempotencyKey: d.Key.ActivityKey(), Action: d.Name, Input: d.Input, Config: givenConfig{Retry: d.Config.Retry}, Labels: d.Labels,
	}
	if d.Config.TimeoutMS > 0 {
		out.Config.TimeoutMS = &d.Config.TimeoutMS
	}
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	return out
}

func (a *API) pollWorker(ctx context.Context, q *request) (answer, error) {
	b := &q.body
	req := workers.PollRequest{
		PollID: b.text("poll_id"), MaxTasks: int(b.whole("max_tasks", 1, 1, worker.MaxConcurrency)),
		Wait: time.Duration(b.whole("wait_ms", 0, 0, maxPollWait)) * time.Millisecond,
	}
	if len(req.PollID) > 255 {
		b.faults.add("/poll_id", "poll_id has at most 255 bytes")
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	got, err := a.Workers.Poll(ctx, q.who, q.param("worker_id"), req)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Drain bool        `json:"drain"`
		Tasks []givenTask `json:"tasks"`
	}{got.Drain, []givenTask{}}
	for _, g := range got.Tasks {
		out.Tasks = append(out.Tasks, toGiven(g))
	}
	return answer{value: out}, nil
}

type taskStanding struct {
	TaskID string      `json:"task_id"`
	Status string      `json:"status"`
	Reason string      `json:"reason,omitempty"`
	Until  *wire.Stamp `json:"lease_expires_at,omitempty"`
}

func (a *API) heartbeatWorker(ctx context.Context, q *request) (answer, error) {
	var beats []workers.Beat
	for i, one := range q.body.objects("tasks", "task_id", "lease_token", "progress?") {
		beat := workers.Beat{TaskID: one.text("task_id"), Token: one.text("lease_token"), Progress: one.payload("progress")}
		if len(beat.Progress) > maxProgress {
			one.faults.add("/progress", "progress %d has %d bytes and may have %d", i, len(beat.Progress), maxProgress)
		}
		beats = append(beats, beat)
		q.body.takes("tasks", &one)
	}
	if len(beats) > maxBeats {
		q.body.faults.add("/tasks", "tasks lists at most %d tasks", maxBeats)
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	drain, standing, err := a.Workers.Heartbeat(ctx, q.who, q.param("worker_id"), beats)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Drain bool           `json:"drain"`
		Tasks []taskStanding `json:"tasks"`
	}{drain, []taskStanding{}}
	for _, s := range standing {
		t := taskStanding{TaskID: s.TaskID, Status: s.Status, Reason: s.Reason}
		if !s.Until.IsZero() {
			until := wire.Stamp(s.Until)
			t.Until = &until
		}
		out.Tasks = append(out.Tasks, t)
	}
	return answer{value: out}, nil
}

func (a *API) drainWorker(ctx context.Context, q *request) (answer, error) {
	held, err := a.Workers.Leave(ctx, q.who, q.param("worker_id"))
	return answer{value: map[string]int{"held": held}}, err
}

func (a *API) endWorker(ctx context.Context, q *request) (answer, error) {
	ended, err := a.Workers.End(ctx, q.who, q.param("worker_id"))
	return answer{value: map[string]int{"ended": ended}}, err
}

func (a *API) extendLease(ctx context.Context, q *request) (answer, error) {
	req := workers.ExtendRequest{
		TaskID: q.param("task_id"), Token: q.body.text("lease_token"), For: time.Duration(q.body.whole("lease_ms", 0, 1, maxMS)) * time.Millisecond,
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	until, err := a.Workers.Extend(ctx, q.who, req)
	return answer{value: map[string]wire.Stamp{"lease_expires_at": wire.Stamp(until)}}, err
}

func (a *API) completeTask(ctx context.Context, q *request) (answer, error) {
	token, result := q.body.text("lease_token"), q.body.payload("result")
	if result == nil {
		q.body.faults.add("/result", "result is missing; an action without a result sends null")
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	settled, err := a.Workers.Complete(ctx, q.who, q.param("task_id"), token, result)
	return answer{value: map[string]bool{"recorded": true, "duplicate": settled.Duplicate}}, err
}

func (a *API) failTask(ctx context.Context, q *request) (answer, error) {
	b := &q.body
	token := b.text("lease_token")
	f := workers.Failure{Class: action.Class(b.text("class")), Code: b.free("code"), Message: b.free("message"), Details: b.payload("details")}
	switch f.Class {
	case action.Retryable, action.Terminal, action.PolicyRefused:
	case action.Timeout, action.Lost:
		b.faults.add("/class", "class %s is the server's word; a worker says retryable, terminal or policy_refused", f.Class)
	default:
		b.faults.add("/class", "class is one of retryable, terminal, policy_refused; got %q", domain.Quote(string(f.Class), 64))
	}
	if len(f.Code) > 64 {
		b.faults.add("/code", "code has at most 64 bytes")
	}
	if !b.has("details") {
		f.Details = nil
	} else if jsontext.KindOf(f.Details) != jsontext.Object {
		b.faults.add("/details", "details is an object")
	}
	if len(f.Details) > action.MaxDetails {
		b.faults.add("/details", "details has %d bytes and may have %d", len(f.Details), action.MaxDetails)
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	settled, err := a.Workers.Fail(ctx, q.who, q.param("task_id"), token, f)
	return answer{value: struct {
		Recorded  bool       `json:"recorded"`
		Duplicate bool       `json:"duplicate"`
		RetryAt   wire.Stamp `json:"retry_at"`
	}{true, settled.Duplicate, wire.Stamp(settled.RetryAt)}}, err
}

func (a *API) releaseTask(ctx context.Context, q *request) (answer, error) {
	token := q.body.text("lease_token")
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	return answer{value: map[string]bool{"released": true}}, a.Workers.Release(ctx, q.who, q.param("task_id"), token)
}
