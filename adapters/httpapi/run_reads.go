package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"aion/adapters/web/wire"
	"aion/application/runs"
	"aion/domain"
	"aion/domain/history"
	"aion/domain/run"
)

func (a *API) runReadRoutes() []route {
	return []route{
		{method: "GET", path: runPath + "/generations", grant: namespaced, query: []string{"limit", "cursor"}, serve: a.listGenerations},
		{method: "GET", path: runPath + "/outcome", grant: namespaced, query: []string{"run_id", "wait_ms"}, timeout: time.Minute, serve: a.awaitOutcome},
		{method: "GET", path: runPath + "/activities", grant: namespaced, query: []string{"run_id", "open", "limit", "cursor"}, serve: a.listActivities},
		{method: "GET", path: runPath + "/activities/:activity_id", grant: namespaced, query: []string{"run_id"}, serve: a.readActivity},
	}
}

type generation struct {
	RunID      string      `json:"run_id"`
	Generation int         `json:"generation"`
	Status     string      `json:"status"`
	PackageID  string      `json:"package_id"`
	FirstSeq   history.Seq `json:"first_seq"`
	LastSeq    history.Seq `json:"last_seq"`
	StartedAt  wire.Stamp  `json:"started_at"`
	EndedAt    wire.Stamp  `json:"ended_at"`
}

func (a *API) listGenerations(ctx context.Context, q *request) (answer, error) {
	limit := q.limit()
	offset, err := q.offset()
	if err != nil {
		return answer{}, err
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	all, err := a.Runs.Generations(ctx, q.who, q.param("ns"), q.param("wid"))
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Generations []generation  `json:"generations"`
		NextCursor  wire.Nullable `json:"next_cursor"`
	}{Generations: []generation{}}
	shown, next := q.portion(len(all), offset, limit)
	out.NextCursor = next
	for _, g := range all[shown[0]:shown[1]] {
		out.Generations = append(out.Generations, generation{
			RunID: string(g.RunID), Generation: g.Generation, Status: string(g.Status), PackageID: g.PackageVersion,
			FirstSeq: g.FirstSeq, LastSeq: g.LastSeq, StartedAt: wire.Stamp(g.StartedAt), EndedAt: wire.Stamp(g.EndedAt),
		})
	}
	return answer{value: out}, nil
}

type outcome struct {
	wire.Address
	WorkflowType string        `json:"workflow_type"`
	Route        wire.Nullable `json:"route"`
	wire.Ending
}

// maxWait is the longest that one request waits for the end of a run.
const maxWait = 30_000

func (a *API) awaitOutcome(ctx context.Context, q *request) (answer, error) {
	wait := time.Duration(q.query.whole("wait_ms", 0, 0, maxWait)) * time.Millisecond
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(a.serving, stop)() //nolint:contextcheck // the end of serving is no part of the request
	got, err := a.Runs.Outcome(waiting, q.who, q.ref(), wait)
	if err != nil && a.serving.Err() != nil && ctx.Err() == nil { // the server stops: what is so now
		got, err = a.Runs.Outcome(ctx, q.who, q.ref(), 0)
	}
	if err != nil {
		return answer{}, err
	}
	if !got.Status.Terminal() || got.Status == history.ContinuedAsNew && !q.query.has("run_id") {
		return answer{status: http.StatusAccepted, value: map[string]string{"status": string(got.Status)}}, nil
	}
	out := outcome{Address: wire.AddressOf(got), WorkflowType: got.WorkflowType, Route: wire.Nullable(got.Route), Ending: wire.EndingOf(got)}
	out.Result = wire.Bounded(got.Result, wire.Whole)
	return answer{value: out}, nil
}

type activity struct {
	ActivityID    int64           `json:"activity_id"`
	ActivityType  string          `json:"activity_type"`
	TaskQueue     string          `json:"task_queue"`
	Node          wire.Nullable   `json:"node"`
	Step          string          `json:"step"`
	Scope         string          `json:"scope"`
	State         string          `json:"state"`
	Executor      wire.Nullable   `json:"executor"`
	Input         json.RawMessage `json:"input"`
	Result        json.RawMessage `json:"result"`
	Failure       *attemptFailure `json:"failure"`
	ScheduledAt   wire.Stamp      `json:"scheduled_at"`
	EndedAt       wire.Stamp      `json:"ended_at"`
	NextAttemptAt wire.Stamp      `json:"next_attempt_at"`
	Attempts      []attempt       `json:"attempts"`
}

type attemptFailure struct {
	Class   string          `json:"class"`
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details"`
}

type attempt struct {
	Attempt        int           `json:"attempt"`
	State          string        `json:"state"`
	Executor       string        `json:"executor"`
	StartedAt      wire.Stamp    `json:"started_at"`
	EndedAt        wire.Stamp    `json:"ended_at"`
	Class          wire.Nullable `json:"class"`
	Code           wire.Nullable `json:"code"`
	Message        wire.Nullable `json:"message"`
	TranscriptHead *int64        `json:"transcript_head_seq"`
}

// activityWith gives an activity with its values, each of so many bytes at most.
func (a *API) activityWith(ctx context.Context, of runs.Activities, t run.ActivityAccount, valueBytes int) (activity, error) {
	v, err := a.Runs.Values(ctx, of, t)
	if err != nil {
		return activity{}, err
	}
	out := activity{
		ActivityID: t.ID, ActivityType: t.Type, TaskQueue: t.TaskQueue, Node: wire.Nullable(t.Node), Step: t.Step, Scope: t.Scope,
		State: string(t.State), Input: wire.Bounded(v.Input, valueBytes), Result: wire.Bounded(v.Result, valueBytes),
		ScheduledAt: wire.Stamp(t.ScheduledAt), EndedAt: wire.Stamp(t.EndedAt), NextAttemptAt: wire.Stamp(t.NextAttemptAt), Attempts: []attempt{},
	}
	for _, try := range t.Attempts {
		shown := attempt{
			Attempt: try.Attempt, State: string(try.State), Executor: try.Executor, StartedAt: wire.Stamp(try.StartedAt),
			EndedAt: wire.Stamp(try.EndedAt), Class: wire.Nullable(try.Class), Code: wire.Nullable(try.Code), Message: wire.Nullable(try.Message),
		}
		key := domain.AttemptKey{WorkflowID: of.WorkflowID, RunID: of.RunID, ActivityID: t.ID, Attempt: try.Attempt}
		if head, ok := of.Heads[key]; ok {
			shown.TranscriptHead = &head
		}
		out.Attempts, out.Executor = append(out.Attempts, shown), wire.Nullable(try.Executor)
	}
	if n := len(t.Attempts); n > 0 && t.State == run.ActivityFailed {
		last := t.Attempts[n-1]
		out.Failure = &attemptFailure{string(last.Class), last.Code, last.Message, wire.Bounded(v.Details, valueBytes)}
	}
	return out, nil
}

func (a *API) listActivities(ctx context.Context, q *request) (answer, error) {
	limit, open := q.limit(), q.query.truth("open")
	offset, err := q.offset()
	if err != nil {
		return answer{}, err
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	all, err := a.Runs.Activities(ctx, q.who, q.ref())
	if err != nil {
		return answer{}, err
	}
	list := make([]run.ActivityAccount, 0, len(all.List))
	for _, t := range all.List {
		if !q.query.has("open") || t.State.Open() == open {
			list = append(list, t)
		}
	}
	shown, next := q.portion(len(list), offset, limit)
	fill := wire.NewPage(maxPageBytes, pageFrame)
	for i, t := range list[shown[0]:shown[1]] {
		shownAs, err := a.activityWith(ctx, all, t, wire.MaxValue)
		if err != nil {
			return answer{}, err
		}
		entry, err := domain.Encode(shownAs)
		if err != nil {
			return answer{}, err
		}
		if !fill.Add(entry) {
			next = wire.Nullable(q.next(strconv.Itoa(shown[0] + i)))
			break
		}
	}
	return answer{value: struct {
		RunID      string            `json:"run_id"`
		Activities []json.RawMessage `json:"activities"`
		NextCursor wire.Nullable     `json:"next_cursor"`
	}{string(all.RunID), fill.Entries, next}}, nil
}

func (a *API) readActivity(ctx context.Context, q *request) (answer, error) {
	id, err := strconv.ParseInt(q.param("activity_id"), 10, 64)
	if err != nil || id < 0 {
		return answer{}, invalid("the id of an activity is a whole number from 0 on")
	}
	all, err := a.Runs.Activities(ctx, q.who, q.ref())
	if err != nil {
		return answer{}, err
	}
	for _, t := range all.List {
		if t.ID == id {
			whole, err := a.activityWith(ctx, all, t, wire.Whole)
			return answer{value: whole}, err
		}
	}
	return answer{}, runs.ActivityNotFound(id, all.RunID)
}
