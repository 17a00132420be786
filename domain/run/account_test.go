package run_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aion/domain/history"
	"aion/domain/run"
)

// open is what the projection says of a run: its open activities, and whether it is held.
func open(r *run.Run) []string {
	out := []string{fmt.Sprint("held ", r.Status() == history.Paused)}
	for _, a := range r.Open() {
		out = append(out, fmt.Sprintf("%d %s %d started %v", a.ID, a.Type, a.Attempt, a.Started))
	}
	return out
}

// openIn is the same by the account of the run.
func openIn(a run.Account) []string {
	out := []string{fmt.Sprint("held ", a.Pause != nil)}
	for _, t := range a.Activities {
		if !t.State.Open() {
			continue
		}
		attempt := len(t.Attempts)
		if t.State == run.ActivityScheduled {
			attempt++
		}
		out = append(out, fmt.Sprintf("%d %s %d started %v", t.ID, t.Type, attempt, t.State == run.ActivityStarted))
	}
	return out
}

// placed holds that the account names the events with the values of each activity, and no others.
func placed(t *rapid.T, a run.Account, all []history.Recorded) {
	at := func(seq history.Seq) history.Event {
		if seq < 1 || seq > int64(len(all)) || all[seq-1].Seq != seq {
			t.Fatalf("the account names event %d of %d", seq, len(all))
		}
		ev, err := all[seq-1].Event()
		if err != nil {
			t.Fatal(err)
		}
		return ev
	}
	for _, act := range a.Activities {
		if ev, ok := at(act.InputSeq).(history.ActivityScheduled); !ok || ev.ActivityID != act.ID {
			t.Fatalf("the input of %d is in event %d", act.ID, act.InputSeq)
		}
		if done := act.State == run.ActivityCompleted; done != (act.ResultSeq > 0) {
			t.Fatalf("%d is %s and has its result in event %d", act.ID, act.State, act.ResultSeq)
		} else if done {
			if ev, ok := at(act.ResultSeq).(history.ActivityCompleted); !ok || ev.ActivityID != act.ID {
				t.Fatalf("the result of %d is in event %d", act.ID, act.ResultSeq)
			}
		}
		for _, try := range act.Attempts {
			if try.State != run.ActivityFailed {
				continue
			}
			if ev, ok := at(try.EndSeq).(history.ActivityFailed); !ok || ev.ActivityID != act.ID || ev.Code != try.Code {
				t.Fatalf("the failure of %d is in event %d", act.ID, try.EndSeq)
			}
		}
	}
}

// report 81: whatever the order of events, the account of a run agrees with its projection, also after it was closed and
// opened again.
func TestAccountAgreesWithTheProjection(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, account, told := newTape(), run.Account{}, 0
		add := func(e history.Event) {
			if err := x.add(e); err != nil {
				t.Fatalf("a legal event is refused: %v", err)
			}
			for ; told < len(x.all); told++ {
				if err := account.Apply(x.all[told]); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(open(x.run), openIn(account)); d != "" {
				t.Fatalf("after %d events: %s", told, d)
			}
			placed(t, account, x.all)
		}
		add(started())
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			if x.run.Ended() {
				add(history.WorkflowReopened{FromSeq: x.seq})
			}
			add(draw(t, x))
		}
		if account.Started.WorkflowType != "t" {
			t.Fatalf("started as %+v", account.Started)
		}
	})
}
