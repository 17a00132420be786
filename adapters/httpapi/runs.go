package httpapi

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"aion/adapters/web/wire"
	"aion/application/runs"
	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// The paths of one namespace and of one workflow (server 1.1).
const (
	runsPath = "/namespaces/:ns/runs"
	runPath  = runsPath + "/:wid"
)

func (a *API) runRoutes() []route {
	filters := []string{
		"workflow_type", "package_id", "schedule_id", "parent_workflow_id", "started_after", "started_before", "ended_after", "ended_before", "label*", "q",
		"attention",
	}
	own := []route{
		{method: "GET", path: runsPath, grant: namespaced, query: append([]string{"status*", "order", "limit", "cursor"}, filters...), serve: a.listRuns},
		{method: "POST", path: runsPath, grant: namespaced, keyed: true, action: "run.start", serve: a.startRun, body: []string{
			"workflow_type", "input?", "workflow_id?", "labels?", "package_id?", "signal?",
		}},
		{method: "GET", path: runPath, grant: namespaced, query: []string{"run_id"}, serve: a.describeRun},
		{
			method: "GET", path: runsPath + "/stream", grant: namespaced, media: []string{mediaEvents}, timeout: endless, serve: a.followRuns,
			query: append([]string{"status*"}, filters...),
		},
		{method: "GET", path: runsPath + "/counts", grant: namespaced, query: filters, serve: a.countRuns},
	}
	return slices.Concat(own, a.runReadRoutes(), a.runChangeRoutes(), a.historyRoutes(), a.transcriptRoutes())
}

// ref is the run that the path and the query name.
func (q *request) ref() runs.Ref {
	return runs.Ref{Namespace: q.param("ns"), WorkflowID: q.param("wid"), RunID: q.query.text("run_id")}
}

// summary is a row of a list.
type summary struct {
	wire.Address
	Generation       int               `json:"generation"`
	WorkflowType     string            `json:"workflow_type"`
	PackageID        string            `json:"package_id"`
	Status           string            `json:"status"`
	StartedAt        wire.Stamp        `json:"started_at"`
	EndedAt          wire.Stamp        `json:"ended_at"`
	Outcome          wire.Nullable     `json:"outcome"`
	Failure          *shortFailure     `json:"failure"`
	CurrentStep      *currentStep      `json:"current_step"`
	ParentWorkflowID wire.Nullable     `json:"parent_workflow_id"`
	ScheduleID       wire.Nullable     `json:"schedule_id"`
	Labels           map[string]string `json:"labels"`
	HistoryHead      history.Seq       `json:"history_head_seq"`
}

type shortFailure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type currentStep struct {
	ActivityID   int64  `json:"activity_id"`
	ActivityType string `json:"activity_type"`
	Attempt      int    `json:"attempt"`
	Step         string `json:"step"`
}

func toSummary(row history.ListedRun) summary {
	out := summary{
		Address:    wire.Address{Namespace: string(row.Namespace), WorkflowID: string(row.WorkflowID), RunID: string(row.RunID)},
		Generation: row.Generation, WorkflowType: row.WorkflowType, PackageID: row.PackageVersion, Status: string(row.Status),
		StartedAt: wire.Stamp(row.StartedAt), EndedAt: wire.Stamp(row.EndedAt), Outcome: wire.Nullable(row.Outcome), Labels: labels(row.Labels),
		ScheduleID: wire.Nullable(row.ScheduleID), HistoryHead: row.HeadSeq,
	}
	if row.FailureCode != "" {
		out.Failure = &shortFailure{row.FailureCode, row.FailureMessage}
	}
	if c := row.Current; c != nil {
		out.CurrentStep = &currentStep{c.ActivityID, c.ActivityType, c.Attempt, c.Step}
	}
	if row.Parent != nil {
		out.ParentWorkflowID = wire.Nullable(row.Parent.WorkflowID)
	}
	return out
}

// labels is never null.
func labels(l map[string]string) map[string]string {
	if l == nil {
		return map[string]string{}
	}
	return l
}

// statuses are the words of the status filter.
func statuses() []string {
	words := make([]string, 0, len(history.Statuses()))
	for _, s := range history.Statuses() {
		words = append(words, string(s))
	}
	return words
}

// prefixShape is what ids and types are made of.
var prefixShape = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// filtered is what the query asks of runs (server 1.5), but for their status.
func (q *request) filtered() runs.ListRequest {
	p := &q.query
	req := runs.ListRequest{
		Namespace: q.param("ns"), WorkflowType: p.text("workflow_type"), PackageID: p.text("package_id"), ParentWorkflowID: p.text("parent_workflow_id"),
		StartedAfter: p.time("started_after"), StartedBefore: p.time("started_before"), EndedAfter: p.time("ended_after"), EndedBefore: p.time("ended_before"),
		ScheduleID: p.text("schedule_id"), Prefix: p.text("q"), Attention: p.truth("attention"),
	}
	if p.has("q") && !prefixShape.MatchString(req.Prefix) {
		p.faults.add("?q", "q is the beginning of a workflow id, a run id or a workflow type")
	}
	for _, text := range p.texts("label") {
		key, value, found := strings.Cut(text, "=")
		if other, twice := req.Labels[key]; !found || key == "" || twice && other != value {
			p.faults.add("?label", "label is key=value, each key once; got %q", domain.Quote(text, 64))
			continue
		}
		if req.Labels == nil {
			req.Labels = map[string]string{}
		}
		req.Labels[key] = value
	}
	return req
}

func (a *API) listRuns(ctx context.Context, q *request) (answer, error) {
	req := q.filtered()
	req.Limit, req.Cursor = q.limit(), q.query.text("cursor")
	req.Order = map[string]ports.RunOrder{"started_asc": ports.OldestFirst, "ended_desc": ports.LastEndedFirst}[q.query.one("order",
		"started_desc", "started_asc", "ended_desc")]
	for _, status := range q.query.texts("status") {
		q.query.word("status", status, statuses())
		req.Statuses = append(req.Statuses, history.Status(status))
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	if q.query.has("cursor") && req.Cursor == "" {
		return answer{}, cursorInvalid("is empty")
	}
	var changes wire.Nullable
	if req.Cursor == "" { // read before the list, so that a stream from there misses nothing that the list does not show
		now, err := a.Runs.RunsNow(ctx, q.who, req.Namespace)
		if err != nil {
			return answer{}, err
		}
		changes = wire.Nullable(placeOf(now))
	}
	read, err := a.Runs.List(ctx, q.who, req)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Namespace  string        `json:"namespace"`
		Runs       []summary     `json:"runs"`
		NextCursor wire.Nullable `json:"next_cursor"`
		Changes    wire.Nullable `json:"changes"` // of the first page: where its stream goes on
	}{string(read.Namespace), []summary{}, wire.Nullable(read.NextCursor), changes}
	for _, row := range read.Runs {
		out.Runs = append(out.Runs, toSummary(row))
	}
	return answer{value: out}, nil
}

func (a *API) countRuns(ctx context.Context, q *request) (answer, error) {
	req := q.filtered()
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	got, err := a.Runs.Count(ctx, q.who, req)
	if err != nil {
		return answer{}, err
	}
	return answer{value: struct {
		Counts map[history.Status]int64 `json:"counts"`
		Total  int64                    `json:"total"`
		AsOf   wire.Stamp               `json:"as_of"`
	}{got.ByStatus, got.Total, wire.Stamp(got.AsOf)}}, nil
}

type started struct {
	wire.Address
	WorkflowType string     `json:"workflow_type"`
	PackageID    string     `json:"package_id"`
	Status       string     `json:"status"`
	StartedAt    wire.Stamp `json:"started_at"`
}

func (a *API) startRun(ctx context.Context, q *request) (answer, error) {
	req := runs.StartRequest{
		Namespace: q.param("ns"), WorkflowType: q.body.text("workflow_type"), Input: q.body.payload("input"),
		WorkflowID: q.body.text("workflow_id"), IdempotencyKey: q.key, Labels: q.body.texts("labels"), PackageID: q.body.text("package_id"),
	}
	if signal := q.body.object("signal", "signal_name", "payload?"); signal != nil {
		req.Signal = &runs.StartSignal{Name: signal.text("signal_name"), Payload: signal.payload("payload")}
		q.body.takes("signal", signal)
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	got, err := a.Runs.Start(ctx, q.who, req)
	if err != nil {
		return answer{}, err
	}
	return startedAnswer(got), nil
}

func startedAnswer(got runs.Started) answer {
	out := started{
		Address: wire.AddressOf(got.First), WorkflowType: got.First.WorkflowType, PackageID: got.First.PackageID, Status: string(got.First.Status),
		StartedAt: wire.Stamp(got.First.StartedAt),
	}
	return answer{
		status: http.StatusCreated, value: out, replayed: got.Existing,
		location: prefix + "/namespaces/" + out.Namespace + "/runs/" + out.WorkflowID,
	}
}
