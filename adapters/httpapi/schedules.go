package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"aion/adapters/web/wire"
	"aion/application/authoring"
	"aion/application/schedules"
	"aion/domain/schedule"
)

// The paths of the schedules of a namespace.
const (
	schedulesPath = "/namespaces/:ns/schedules"
	schedulePath  = schedulesPath + "/:id"
)

func (a *API) scheduleRoutes() []route {
	settings := []string{
		"schedule_id?", "workflow_type", "input?", "spec", "time_zone?", "overlap?", "catch_up_ms?", "jitter_ms?", "labels?", "description?",
	}
	change := func(name, action string, serve handler, body ...string) route {
		return route{method: "POST", path: schedulePath + "/" + name, grant: namespaced, keyed: true, action: action, serve: serve, body: body}
	}
	return []route{
		{method: "GET", path: schedulesPath, grant: namespaced, query: []string{"paused", "workflow_type", "limit", "cursor"}, serve: a.listSchedules},
		{
			method: "POST", path: schedulesPath, grant: namespaced, keyed: true, action: "schedule.create", serve: a.createSchedule,
			body: append([]string{"paused?"}, settings...),
		},
		{
			method: "POST", path: "/namespaces/:ns/schedule-preview", grant: namespaced, serve: a.previewSchedule,
			body: []string{"spec", "time_zone?", "after?", "count"},
		},
		{method: "GET", path: schedulePath, grant: namespaced, serve: a.describeSchedule},
		{method: "PUT", path: schedulePath, grant: namespaced, action: "schedule.update", serve: a.updateSchedule, body: settings},
		{method: "DELETE", path: schedulePath, grant: namespaced, action: "schedule.delete", serve: a.deleteSchedule},
		change("pause", "schedule.pause", a.pauseSchedule, "reason?"),
		change("resume", "schedule.resume", a.resumeSchedule, "reason?"),
		change("trigger", "schedule.trigger", a.triggerSchedule, "overlap?"),
		change("backfill", "schedule.backfill", a.backfillSchedule, "from", "to", "limit"),
		{method: "GET", path: schedulePath + "/fires", grant: namespaced, query: []string{"limit", "cursor"}, serve: a.listFires},
	}
}

// scheduleSettings reads the settings of a schedule; what is absent is what is usual.
func (q *request) scheduleSettings() schedule.Settings {
	b := &q.body
	set := schedule.Settings{
		WorkflowType: b.text("workflow_type"), Input: b.payload("input"), Spec: b.text("spec"), Zone: "UTC", Overlap: schedule.Skip,
		CatchUp: time.Duration(b.whole("catch_up_ms", schedule.DefaultCatchUp.Milliseconds(), 0, maxMS)) * time.Millisecond,
		Jitter:  time.Duration(b.whole("jitter_ms", 0, 0, maxMS)) * time.Millisecond,
		Labels:  b.texts("labels"), Description: b.free("description"),
	}
	if b.has("time_zone") {
		set.Zone = b.text("time_zone")
	}
	if b.has("overlap") {
		set.Overlap = schedule.Overlap(b.text("overlap"))
	}
	return set
}

func (a *API) createSchedule(ctx context.Context, q *request) (answer, error) {
	req := schedules.CreateRequest{
		Namespace: q.param("ns"), ID: q.body.text("schedule_id"), Settings: q.scheduleSettings(), Paused: q.body.truth("paused"), Key: q.key,
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	got, err := a.Schedules.Create(ctx, q.who, req)
	if err != nil {
		return answer{}, err
	}
	out := toSchedule(got.Shown)
	return answer{
		status: http.StatusCreated, value: toDetails(got.Shown), etag: out.Revision, replayed: got.Repeated,
		location: prefix + "/namespaces/" + out.Namespace + "/schedules/" + out.ScheduleID,
	}, nil
}

func (a *API) describeSchedule(ctx context.Context, q *request) (answer, error) {
	return scheduleAnswer(a.Schedules.Describe(ctx, q.who, q.param("ns"), q.param("id")))
}

func scheduleAnswer(got schedules.Shown, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return answer{value: toDetails(got), etag: strconv.FormatInt(got.Revision, 10)}, nil
}

func (a *API) listSchedules(ctx context.Context, q *request) (answer, error) {
	req := schedules.ListRequest{Namespace: q.param("ns"), WorkflowType: q.query.text("workflow_type")}
	if paused := q.query.truth("paused"); q.query.has("paused") {
		req.Paused = &paused
	}
	var err error
	if req.Limit, req.After, err = q.page(); err != nil {
		return answer{}, err
	}
	list, more, err := a.Schedules.List(ctx, q.who, req)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Schedules  []scheduled   `json:"schedules"`
		NextCursor wire.Nullable `json:"next_cursor"`
	}{Schedules: []scheduled{}}
	for _, s := range list {
		out.Schedules = append(out.Schedules, toSchedule(s))
	}
	if more {
		out.NextCursor = wire.Nullable(q.next(string(list[len(list)-1].ID)))
	}
	return answer{value: out}, nil
}

func (a *API) updateSchedule(ctx context.Context, q *request) (answer, error) {
	req := schedules.UpdateRequest{Namespace: q.param("ns"), ID: q.param("id"), Settings: q.scheduleSettings()}
	if named := q.body.text("schedule_id"); q.body.has("schedule_id") && named != req.ID {
		q.body.faults.add("/schedule_id", "schedule_id is that of the path; a schedule keeps its id")
	}
	err := q.whole()
	if err == nil {
		req.Revision, req.Any, err = q.revision()
	}
	if err != nil {
		return answer{}, err
	}
	return scheduleAnswer(a.Schedules.Update(ctx, q.who, req))
}

func (a *API) deleteSchedule(ctx context.Context, q *request) (answer, error) {
	revision, _, err := q.revision()
	if err != nil {
		return answer{}, err
	}
	return answer{}, a.Schedules.Delete(ctx, q.who, q.param("ns"), q.param("id"), revision)
}

// revision is the one that a change rests on; empty: whichever is there (wildcard), or none was named.
func (q *request) revision() (revision string, wildcard bool, err error) {
	expect, revision, err := q.precondition()
	if err == nil && expect == authoring.Nothing {
		err = invalid("a change of a schedule reads If-Match; send it with the ETag that you read, or *")
	}
	return revision, expect == authoring.Something, err
}

func (a *API) pauseSchedule(ctx context.Context, q *request) (answer, error) {
	reason := q.body.free("reason")
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	got, err := a.Schedules.Pause(ctx, q.who, q.param("ns"), q.param("id"), reason)
	return scheduleAnswer(got, err)
}

func (a *API) resumeSchedule(ctx context.Context, q *request) (answer, error) {
	_ = q.body.free("reason") // is taken, and kept nowhere: a schedule that fires has none
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	got, err := a.Schedules.Resume(ctx, q.who, q.param("ns"), q.param("id"))
	return scheduleAnswer(got, err)
}

func (a *API) triggerSchedule(ctx context.Context, q *request) (answer, error) {
	req := schedules.TriggerRequest{Namespace: q.param("ns"), ID: q.param("id"), Overlap: schedule.Overlap(q.body.text("overlap")), Key: q.key}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	got, err := a.Schedules.Trigger(ctx, q.who, req)
	if err != nil {
		return answer{}, err
	}
	return startedAnswer(got), nil
}

func (a *API) backfillSchedule(ctx context.Context, q *request) (answer, error) {
	req := schedules.BackfillRequest{
		Namespace: q.param("ns"), ID: q.param("id"),
		Span: schedule.Span{From: q.body.time("from"), To: q.body.time("to"), Limit: int(q.body.whole("limit", 0, 1, schedule.MaxBackfill))},
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	planned, err := a.Schedules.Backfill(ctx, q.who, req)
	return answer{status: http.StatusAccepted, value: struct {
		Planned int `json:"planned"`
	}{planned}}, err
}

func (a *API) previewSchedule(ctx context.Context, q *request) (answer, error) {
	p := schedules.PreviewRequest{Spec: q.body.text("spec"), Zone: "UTC", After: q.body.time("after"), Count: int(q.body.whole("count", 1, 1, 100))}
	if q.body.has("time_zone") {
		p.Zone = q.body.text("time_zone")
	}
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	times, notes, err := a.Schedules.Preview(ctx, q.who, q.param("ns"), p)
	return answer{value: struct {
		Times []wire.Stamp `json:"times"`
		Notes []string     `json:"notes"`
	}{stamps(times), list(notes)}}, err
}

func (a *API) listFires(ctx context.Context, q *request) (answer, error) {
	limit, after, err := q.page()
	if err != nil {
		return answer{}, err
	}
	var before int64
	if after != "" {
		if before, err = strconv.ParseInt(after, 10, 64); err != nil || before < 1 {
			return answer{}, cursorInvalid("does not decode")
		}
	}
	read, more, err := a.Schedules.Fires(ctx, q.who, [2]string{q.param("ns"), q.param("id")}, before, limit)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Fires      []fire        `json:"fires"`
		NextCursor wire.Nullable `json:"next_cursor"`
	}{Fires: toFires(read)}
	if more {
		out.NextCursor = wire.Nullable(q.next(strconv.FormatInt(read[len(read)-1].N, 10)))
	}
	return answer{value: out}, nil
}

// scheduled is a schedule in a list.
type scheduled struct {
	Namespace    string            `json:"namespace"`
	ScheduleID   string            `json:"schedule_id"`
	WorkflowType string            `json:"workflow_type"`
	Input        json.RawMessage   `json:"input"` // null: none
	Spec         string            `json:"spec"`
	TimeZone     string            `json:"time_zone"`
	Overlap      string            `json:"overlap"`
	CatchUpMS    int64             `json:"catch_up_ms"`
	JitterMS     int64             `json:"jitter_ms"`
	Labels       map[string]string `json:"labels"`
	Description  wire.Nullable     `json:"description"`
	Paused       *schedulePause    `json:"paused"`
	NextTimes    []wire.Stamp      `json:"next_times"`
	Revision     string            `json:"revision"`
	CreatedBy    string            `json:"created_by"`
	CreatedAt    wire.Stamp        `json:"created_at"`
	UpdatedAt    wire.Stamp        `json:"updated_at"`
}

type schedulePause struct {
	By     string        `json:"by"`
	Reason wire.Nullable `json:"reason"`
	Since  wire.Stamp    `json:"since"`
}

// scheduleDetails is a schedule by itself.
type scheduleDetails struct {
	scheduled
	LastFires []fire    `json:"last_fires"`
	Running   []openRun `json:"running"`
}

type fire struct {
	NominalAt  wire.Stamp    `json:"nominal_at"`
	DecidedAt  wire.Stamp    `json:"decided_at"`
	Action     string        `json:"action"`
	Reason     string        `json:"reason"`
	WorkflowID wire.Nullable `json:"workflow_id"`
	RunID      wire.Nullable `json:"run_id"`
}

type openRun struct {
	WorkflowID string     `json:"workflow_id"`
	RunID      string     `json:"run_id"`
	StartedAt  wire.Stamp `json:"started_at"`
}

func toSchedule(s schedules.Shown) scheduled {
	out := scheduled{
		Namespace: string(s.Namespace), ScheduleID: string(s.ID), WorkflowType: s.WorkflowType, Input: s.Input, Spec: s.Spec, TimeZone: s.Zone,
		Overlap: string(s.Overlap), CatchUpMS: s.CatchUp.Milliseconds(), JitterMS: s.Jitter.Milliseconds(), Labels: labels(s.Labels),
		Description: wire.Nullable(s.Description), NextTimes: stamps(s.NextTimes), Revision: strconv.FormatInt(s.Revision, 10),
		CreatedBy: s.Creator.Subject, CreatedAt: wire.Stamp(s.CreatedAt), UpdatedAt: wire.Stamp(s.UpdatedAt),
	}
	if s.Paused != nil {
		out.Paused = &schedulePause{s.Paused.By, wire.Nullable(s.Paused.Reason), wire.Stamp(s.Paused.Since)}
	}
	return out
}

func toDetails(s schedules.Shown) scheduleDetails {
	out := scheduleDetails{scheduled: toSchedule(s), LastFires: toFires(s.Fires), Running: []openRun{}}
	for _, r := range s.Running {
		out.Running = append(out.Running, openRun{string(r.WorkflowID), string(r.RunID), wire.Stamp(r.StartedAt)})
	}
	return out
}

func toFires(fires []schedule.Fire) []fire {
	out := []fire{}
	for _, f := range fires {
		out = append(out, fire{
			NominalAt: wire.Stamp(f.Nominal), DecidedAt: wire.Stamp(f.DecidedAt), Action: string(f.Action), Reason: f.Reason,
			WorkflowID: wire.Nullable(f.WorkflowID), RunID: wire.Nullable(f.RunID),
		})
	}
	return out
}

func stamps(times []time.Time) []wire.Stamp {
	out := []wire.Stamp{}
	for _, t := range times {
		out = append(out, wire.Stamp(t))
	}
	return out
}
