package gormstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"gorm.io/gorm"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// runRow is a row of the table runs.
type runRow struct {
	WorkflowID       string
	Generation       int
	RunID            string
	Namespace        string
	WorkflowType     string
	PackageVersion   string
	Status           string
	PausedReason     string
	StartedAt        int64
	EndedAt          int64
	PreviousRunID    string
	ParentWorkflowID *string
	ParentRunID      *string
	ParentChild      *int64
	Labels           []byte
	FirstSeq         int64
	Outcome          string
	FailureCode      string
	FailureMessage   string
	ScheduleID       *string
}

const runColumns = `workflow_id, generation, run_id, namespace, workflow_type, package_version, status, paused_reason, started_at, ended_at,
	previous_run_id, parent_workflow_id, parent_run_id, parent_child, labels, first_seq, outcome, failure_code, failure_message,
	schedule_id`

// What moves on with each commit is kept with the workflow, of its latest generation: the only one that can be open.
const listedColumns = runColumns + `,
	CASE WHEN status IN ('Running', 'Paused') THEN (SELECT current_step FROM workflows AS w WHERE w.id = runs.workflow_id) ELSE '' END,
	coalesce((SELECT n.first_seq - 1 FROM runs AS n WHERE n.workflow_id = runs.workflow_id AND n.generation = runs.generation + 1),
		(SELECT head_seq FROM workflows AS w WHERE w.id = runs.workflow_id))`

func fromRunRow(r runRow) (history.RunRow, error) {
	row := history.RunRow{
		Namespace: domain.Namespace(r.Namespace), WorkflowID: domain.WorkflowID(r.WorkflowID), RunID: domain.RunID(r.RunID), Generation: r.Generation,
		WorkflowType: r.WorkflowType, PackageVersion: r.PackageVersion, Status: history.Status(r.Status), PausedReason: r.PausedReason,
		StartedAt: fromMicros(r.StartedAt), EndedAt: fromMicros(r.EndedAt), PreviousRunID: domain.RunID(r.PreviousRunID),
		FirstSeq: r.FirstSeq, Outcome: r.Outcome, FailureCode: r.FailureCode, FailureMessage: r.FailureMessage,
	}
	if r.ParentWorkflowID != nil && r.ParentRunID != nil && r.ParentChild != nil {
		row.Parent = &history.Parent{WorkflowID: domain.WorkflowID(*r.ParentWorkflowID), RunID: domain.RunID(*r.ParentRunID), Child: *r.ParentChild}
	}
	if r.ScheduleID != nil {
		row.ScheduleID = *r.ScheduleID
	}
	if r.Labels != nil {
		if err := json.Unmarshal(r.Labels, &row.Labels); err != nil {
			return row, fault("the labels of run "+r.RunID+" cannot be read", err)
		}
	}
	return row, nil
}

// runs is the selection of the table with every column.
func (s *Store) runs() *gorm.DB {
	return s.read.Table("runs").Select(runColumns)
}

// places are where the columns of runColumns go.
func (r *runRow) places() []any {
	return []any{
		&r.WorkflowID, &r.Generation, &r.RunID, &r.Namespace, &r.WorkflowType, &r.PackageVersion, &r.Status, &r.PausedReason,
		&r.StartedAt, &r.EndedAt, &r.PreviousRunID, &r.ParentWorkflowID, &r.ParentRunID, &r.ParentChild, &r.Labels, &r.FirstSeq, &r.Outcome,
		&r.FailureCode, &r.FailureMessage, &r.ScheduleID,
	}
}

// findRuns scans by hand: listing is a hot path, and gorm's own scan costs it more than the database does.
func (s *Store) findRuns(ctx context.Context, q *gorm.DB) ([]history.RunRow, error) {
	var rows []history.RunRow
	err := s.eachOf(ctx, func(found *sql.Rows) error {
		var r runRow
		if err := found.Scan(r.places()...); err != nil {
			return err
		}
		row, err := fromRunRow(r)
		rows = append(rows, row)
		return err
	}, func(ctx context.Context) (*sql.Rows, error) { return q.WithContext(ctx).Rows() })
	return rows, err
}

// Runs implements ports.RunIndex.
func (s *Store) Runs(ctx context.Context, id domain.WorkflowID) ([]history.RunRow, error) {
	return s.findRuns(ctx, s.runs().Where(s.text("workflow_id = +?"), string(id)).Order("generation"))
}

// RunsIn implements ports.RunIndex.
func (s *Store) RunsIn(ctx context.Context, ns domain.Namespace, id domain.WorkflowID) ([]history.RunRow, error) {
	return s.findRuns(ctx, s.runs().Where(s.text("workflow_id = (SELECT id FROM workflows WHERE id = +? AND namespace = +?)"), string(id), string(ns)).
		Order("generation"))
}

// List implements ports.RunIndex.
func (s *Store) List(ctx context.Context, filter ports.RunFilter, after *ports.RunPosition, limit int) ([]history.ListedRun, error) {
	q := s.filtered(s.read.Table("runs").Select(listedColumns), filter)
	behind, order := "(started_at, run_id) < (?, ?)", "started_at DESC, run_id DESC"
	switch filter.Order {
	case ports.OldestFirst:
		behind, order = "(started_at, run_id) > (?, ?)", "started_at, run_id"
	case ports.LastEndedFirst:
		behind, order = "(ended_at, run_id) < (?, ?)", "ended_at DESC, run_id DESC"
	case ports.NewestFirst:
	}
	if after != nil {
		q = q.Where(behind, micros(after.At), string(after.RunID))
	}
	return s.listedRuns(ctx, q.Order(order).Limit(max(limit, 0)))
}

// listedRuns reads a selection of listedColumns.
func (s *Store) listedRuns(ctx context.Context, q *gorm.DB) ([]history.ListedRun, error) {
	var list []history.ListedRun
	err := s.eachOf(ctx, func(found *sql.Rows) error {
		var r runRow
		var step string
		var listed history.ListedRun
		err := found.Scan(append(r.places(), &step, &listed.HeadSeq)...)
		if err == nil {
			listed.RunRow, err = fromRunRow(r)
		}
		if err == nil {
			listed.Current, err = fromCurrentStep(step)
		}
		list = append(list, listed)
		return err
	}, func(ctx context.Context) (*sql.Rows, error) { return q.WithContext(ctx).Rows() })
	return list, err
}

// Count implements ports.RunIndex.
func (s *Store) Count(ctx context.Context, filter ports.RunFilter) (map[history.Status]int64, error) {
	counts := map[history.Status]int64{}
	q := s.filtered(s.read.Table("runs").Select("status, count(*)"), filter).Group("status")
	err := s.eachOf(ctx, func(found *sql.Rows) error {
		var status string
		var n int64
		err := found.Scan(&status, &n)
		counts[history.Status(status)] = n
		return err
	}, func(ctx context.Context) (*sql.Rows, error) { return q.WithContext(ctx).Rows() })
	return counts, err
}

func (s *Store) count(ctx context.Context, q *gorm.DB) (n int64, err error) {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	err = q.WithContext(ctx).Count(&n).Error
	return n, s.readError(ctx, err)
}

func (s *Store) filtered(q *gorm.DB, f ports.RunFilter) *gorm.DB {
	q = q.Where(s.text("namespace = +?"), string(f.Namespace))
	if f.Status != "" {
		q = q.Where(s.text("status = +?"), string(f.Status))
	}
	if f.WorkflowType != "" {
		q = q.Where(s.text("workflow_type = +?"), f.WorkflowType)
	}
	if !f.StartedAfter.IsZero() {
		q = q.Where("started_at >= ?", microsUp(f.StartedAfter))
	}
	if !f.StartedBefore.IsZero() {
		q = q.Where("started_at < ?", microsUp(f.StartedBefore))
	}
	if len(f.Statuses) > 0 {
		q = q.Where("status IN ?", f.Statuses)
	}
	if f.PackageVersion != "" {
		q = q.Where(s.text("package_version = +?"), f.PackageVersion)
	}
	if f.Parent != "" {
		q = q.Where(s.text("parent_workflow_id = +?"), string(f.Parent))
	}
	if f.ScheduleID != "" {
		q = q.Where(s.text("schedule_id = +?"), f.ScheduleID)
	}
	if !f.EndedAfter.IsZero() {
		q = q.Where("ended_at >= ? AND ended_at > 0", microsUp(f.EndedAfter))
	}
	if !f.EndedBefore.IsZero() {
		q = q.Where("ended_at < ? AND ended_at > 0", microsUp(f.EndedBefore))
	}
	if !f.FailedSince.IsZero() {
		q = q.Where("status IN ('Failed', 'TimedOut') AND ended_at >= ? AND ended_at > 0", microsUp(f.FailedSince))
	}
	if f.Order == ports.LastEndedFirst {
		q = q.Where("ended_at > 0")
	}
	return s.named(s.labelled(q, f.Labels), f.Prefix)
}

// labelled looks for members in the stored text, whose encoding is canonical: a quote that is not escaped opens a key, and
// the quote behind the value ends it.
func (s *Store) labelled(q *gorm.DB, labels map[string]string) *gorm.DB {
	holds := "instr(labels, ?) > 0"
	if s.postgres != nil {
		holds = "position( ?::bytea in labels) > 0" // behind a parenthesis gorm would take the bytes for a list
	}
	for key, value := range labels {
		member, err := json.Marshal(map[string]string{key: value})
		if err != nil {
			continue // texts always encode
		}
		q = q.Where(holds, member[1:len(member)-1])
	}
	return q
}

func (s *Store) named(q *gorm.DB, prefix string) *gorm.DB {
	if prefix == "" {
		return q
	}
	end := prefix + "\x7f" // behind all that an id or a type is made of
	return q.Where(s.text("(workflow_id >= +? AND workflow_id < +? OR run_id >= +? AND run_id < +? OR workflow_type >= +? AND workflow_type < +?)"),
		prefix, end, prefix, end, prefix, end)
}

// microsUp rounds a bound up: a stored time is at or after the bound exactly when it is at or after the rounded one.
func microsUp(t time.Time) int64 { return micros(t.Add(time.Microsecond - 1)) }

// PinnedBy implements ports.RunIndex.
func (s *Store) PinnedBy(ctx context.Context, version string, in []domain.Namespace, limit int) ([]history.RunRow, int64, error) {
	// The condition on the status is word for word that of the index.
	const pinned = "package_version = ? AND status IN ('Running', 'Paused')"
	of := func(q *gorm.DB) *gorm.DB {
		if in != nil {
			return q.Where(pinned+" AND namespace IN ?", version, in)
		}
		return q.Where(pinned, version)
	}
	if in != nil && len(in) == 0 { // no database takes an empty list
		return nil, 0, nil
	}
	rows, err := s.findRuns(ctx, of(s.runs()).Order("started_at DESC, run_id DESC").Limit(max(limit, 0)))
	if err != nil {
		return nil, 0, err
	}
	n, err := s.count(ctx, of(s.read.Table("runs")))
	return rows, n, err
}
