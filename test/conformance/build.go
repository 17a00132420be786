package conformance

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
	"aion/test/fake"
)

// start is where the suites begin; it has microseconds, so that a lost digit shows.
var start = time.Date(2026, time.July, 28, 10, 0, 0, 123456000, time.UTC)

const namespace domain.Namespace = "default"

// flow builds the commits of one workflow with one run.
type flow struct {
	id   domain.WorkflowID
	run  domain.RunID
	head history.Seq
}

func newFlow(n int) *flow {
	return &flow{id: domain.WorkflowID(fake.UUID(uint64(n)*1000 + 1)), run: domain.RunID(fake.UUID(uint64(n)*1000 + 2))}
}

// next builds the commit that follows the last one built.
func (f *flow) next(events ...history.Event) history.Commit {
	c := history.Commit{Namespace: namespace, WorkflowID: f.id, ExpectedSeq: f.head}
	for _, e := range events {
		f.head++
		c.Events = append(c.Events, history.Record(f.head, start.Add(time.Duration(f.head)*time.Millisecond), f.id, f.run, e))
	}
	return c
}

// started builds the first commit, with the row of its run.
func (f *flow) started() history.Commit {
	c := f.next(startedEvent())
	c.Rows = []history.RunRow{f.row(history.Running)}
	return c
}

func startedEvent() history.Event {
	return history.WorkflowStarted{WorkflowType: "ship", PackageVersion: hash(1), Input: domain.Payload(`{}`), Labels: map[string]string{}, StartedBy: "operator"}
}

func step(n int64) history.Event {
	return history.StepEntered{Step: "build", Visit: n}
}

func (f *flow) row(status history.Status) history.RunRow {
	row := history.RunRow{
		Namespace: namespace, WorkflowID: f.id, RunID: f.run, Generation: 1, WorkflowType: "ship", PackageVersion: hash(1),
		Status: status, StartedAt: start, FirstSeq: 1,
	}
	if status.Terminal() {
		row.EndedAt = start.Add(time.Hour)
	}
	return row
}

func (f *flow) key(activity int64, attempt int) domain.AttemptKey {
	return domain.AttemptKey{WorkflowID: f.id, RunID: f.run, ActivityID: activity, Attempt: attempt}
}

func (f *flow) task(activity int64, state history.TaskState) history.Task {
	t := history.Task{
		Namespace: namespace, Key: f.key(activity, 1), TaskQueue: "shell", Name: "make", PackageVersion: hash(1),
		State: state, ScheduledAt: start.Add(time.Duration(activity) * time.Second), NotBefore: start,
	}
	if state == history.TaskStarted {
		t.Owner, t.Token, t.ClaimUntil = "server-1", 4, start.Add(time.Minute)
	}
	return t
}

func hash(n int) string { return fmt.Sprintf("%064x", n) }

// mustAppend appends commits that have no reason to be refused.
func mustAppend(t testing.TB, s ports.EventStore, commits ...history.Commit) {
	t.Helper()
	for i, err := range s.Append(t.Context(), commits) {
		if err != nil {
			t.Fatalf("append of commit %d of %d: %v", i+1, len(commits), err)
		}
	}
}

func appendOne(ctx context.Context, s ports.EventStore, c history.Commit) error {
	return s.Append(ctx, []history.Commit{c})[0]
}

func must[T any](t testing.TB, got T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// wantCode checks a refusal by its code and type.
func wantCode(t testing.TB, err error, code domain.Code, typ string) {
	t.Helper()
	e, ok := err.(*domain.Error) //nolint:errorlint // a port gives the refusal itself
	if !ok || e.Code != code || e.Type != typ {
		t.Errorf("got %v, want a refusal %s of type %s", err, code, typ)
	}
}

// same compares values; a nil and an empty list are the same, as no port tells them apart.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(history.Recorded{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// id is a further name, beside those that a flow has.
func id(n int) string { return fake.UUID(uint64(n)) }
