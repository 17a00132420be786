package runs_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
	"aion/domain/run"
	"aion/ports"
	"aion/test/fake"
)

// portions is a store that knows the largest portion in which a history was read from it.
type portions struct {
	fake.Backend
	most atomic.Int64
}

func (p *portions) History(ctx context.Context, id domain.WorkflowID, from history.Seq, limit int) ([]history.Recorded, error) {
	p.most.Store(max(p.most.Load(), int64(limit)))
	return p.Backend.History(ctx, id, from, limit)
}

// server 20: a reading of a history holds a few of its events at a time, and the account of a run holds no values; an activity
// has them all the same.
func TestAccountOfARunReadsValuesOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &portions{Backend: newStore()}
		w := startWorld(t, store, settings{}, func(_ context.Context, e ports.Execution, _ ports.TranscriptWriter) action.Verdict {
			if e.Dispatch.Name == "three" {
				return action.Failed{Class: action.Terminal, Code: "no", Message: "not today", Details: raw(`{"why":"LARGE"}`)}
			}
			return action.Completed{Result: raw(`"LARGE ` + e.Dispatch.Name + `"`)}
		}, threeSteps())
		defer w.stop()
		s := w.start("three")
		synctest.Wait()
		ctx, ref := context.Background(), refOf(s)
		store.most.Store(0)
		follow, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		_ = w.runs.Follow(follow, operator, runs.HistoryRequest{Namespace: ref.Namespace, WorkflowID: ref.WorkflowID}, func(history.Recorded) error { return nil })
		if _, err := w.runs.Inspect(ctx, operator, ref); err != nil {
			t.Fatal(err)
		}
		all, err := w.runs.Activities(ctx, operator, ref)
		if err != nil || len(all.List) < 2 {
			t.Fatalf("%+v, %v", all, err)
		}
		if most := store.most.Load(); most > 128 {
			t.Errorf("%d events were read at once", most)
		}
		if text, err := json.Marshal(all.List); err != nil || strings.Contains(string(text), "LARGE") {
			t.Errorf("the account holds values: %s, %v", text, err)
		}
		for _, act := range all.List {
			v, err := w.runs.Values(ctx, all, act)
			if err != nil || v.Input == nil {
				t.Errorf("%d: %+v, %v", act.ID, v, err)
			}
			switch act.State {
			case run.ActivityCompleted:
				if string(v.Result) != `"LARGE `+act.Type+`"` || v.Details != nil {
					t.Errorf("%d: %s, %s", act.ID, v.Result, v.Details)
				}
			case run.ActivityFailed:
				if v.Result != nil || string(v.Details) != `{"why":"LARGE"}` {
					t.Errorf("%d: %s, %s", act.ID, v.Result, v.Details)
				}
			default:
				t.Errorf("%d is %s", act.ID, act.State)
			}
		}
	})
}

// late is a store in which something happens behind the first reading of a workflow's runs.
type late struct {
	fake.Backend
	behind func()
}

func (l *late) RunsIn(ctx context.Context, ns domain.Namespace, id domain.WorkflowID) ([]history.RunRow, error) {
	rows, err := l.Backend.RunsIn(ctx, ns, id)
	if do := l.behind; do != nil {
		l.behind = nil
		do()
	}
	return rows, err
}

// report 12: the answer to a bounded wait is what is true when it is given, not when it was asked.
func TestOutcomeThatIsReachedMeanwhileIsAnswered(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{0, time.Nanosecond} {
		synctest.Test(t, func(t *testing.T) {
			store := &late{Backend: newStore()}
			w := startWorld(t, store, settings{}, instant, approval("ask", 0))
			defer w.stop()
			s := w.start("ask")
			synctest.Wait()
			store.behind = func() {
				if err := w.signal(s, `"yes"`); err != nil {
					t.Error(err)
				}
				w.await(s)
			}
			got, err := w.runs.Outcome(context.Background(), operator, refOf(s), wait)
			if err != nil || !got.Status.Terminal() || got.Outcome == "" {
				t.Errorf("within %s: %+v, %v", wait, got, err)
			}
		})
	}
}
