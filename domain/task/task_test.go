package task_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aion/domain"
	"aion/domain/task"
)

var start = time.Date(2026, time.July, 28, 10, 0, 0, 0, time.UTC)

func working() task.Task {
	return task.New(task.NewID([16]byte{0xab, 1}), "operator", start, 30*time.Second)
}

func TestIDsAreRecognised(t *testing.T) {
	t.Parallel()
	id := task.NewID([16]byte{0xab, 1})
	if id != "task-ab010000000000000000000000000000" || !id.Possible() {
		t.Error(id)
	}
	for _, bad := range []string{"", "task-", "7", strings.ToUpper(string(id)), string(id) + "0", string(id)[:36], string(id) + "\n"} {
		if task.ID(bad).Possible() {
			t.Errorf("%q is possible", bad)
		}
	}
}

// mcp 73: a working task is never dropped; the time of an ended one counts from its end.
func TestTimeToLiveBeginsAtTheEnd(t *testing.T) {
	t.Parallel()
	k := working()
	if _, ends := k.TTL(); ends || k.Expired(start.Add(1000*time.Hour)) {
		t.Error("a working task expires")
	}
	k = k.Cancel(task.End{At: start.Add(time.Minute), TTL: time.Hour})
	if ttl, ends := k.TTL(); !ends || ttl != time.Hour+time.Minute {
		t.Errorf("%v, %v", ttl, ends)
	}
	if end := start.Add(time.Hour + time.Minute); k.Expired(end.Add(-time.Microsecond)) || !k.Expired(end) {
		t.Error("it expires at another time")
	}
}

func TestLeaseIsTakenOverOnlyWhenItIsOver(t *testing.T) {
	t.Parallel()
	k := working()
	if _, err := k.Lease(start.Add(30*time.Second-time.Microsecond), time.Minute); err == nil {
		t.Error("a lease was taken from a server that holds it")
	}
	taken, err := k.Lease(start.Add(30*time.Second), time.Minute)
	if err != nil || !taken.LeaseUntil.Equal(start.Add(90*time.Second)) {
		t.Errorf("%v, %v", taken.LeaseUntil, err)
	}
	begun, err := k.Begin("w", "r", start)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begun.Lease(start.Add(time.Hour), time.Minute); err == nil {
		t.Error("a started task was leased")
	}
}

// mcp 71, mcp 73: whatever is tried, in whatever order, an ended task stays as it ended, and what was begun stays begun.
func TestEndedTasksNeverChange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := working()
		var ended *task.Task
		for n := range rapid.IntRange(1, 12).Draw(t, "steps") {
			end := task.End{At: start.Add(time.Duration(n) * time.Second), TTL: time.Hour}
			before, next := k, k
			var err error
			switch rapid.SampledFrom([]string{"begin", "settle", "fail", "cancel", "lease"}).Draw(t, "step") {
			case "begin":
				next, err = k.Begin(domain.WorkflowID(rapid.SampledFrom([]string{"w1", "w2"}).Draw(t, "workflow")), "r", end.At)
			case "settle":
				next, err = k.Settle(task.Outcome{Value: domain.Payload(`{}`)}, "last", "done", end)
			case "fail":
				next, err = k.Fail("reference", end)
			case "cancel":
				next = k.Cancel(end)
			case "lease":
				next, err = k.Lease(start.Add(time.Hour), time.Minute)
			}
			if err == nil {
				k = next
			}
			if ended != nil {
				if diff := cmp.Diff(*ended, k); diff != "" {
					t.Fatal(diff)
				}
			}
			if before.Started() && (k.WorkflowID != before.WorkflowID) {
				t.Fatalf("%s became %s", before.WorkflowID, k.WorkflowID)
			}
			if (k.State == task.Working) != k.ExpiresAt.IsZero() || (k.State == task.Completed) != (k.Outcome != nil) || (k.State == task.Failed) != (k.Reference != "") {
				t.Fatalf("%+v", k)
			}
			if k.State != task.Working && ended == nil {
				end := k
				ended = &end
			}
		}
	})
}
