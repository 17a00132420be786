package machine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"aion/domain/history"
	"aion/domain/machine"
)

func diamond(t *testing.T) *run {
	t.Helper()
	r := start(t, document(t, "dag"), `{"target":"x"}`)
	r.done("prepare", `null`)
	r.done("test_all", `"tests"`)
	r.done("lint", `"lint"`)
	r.fires(1)
	r.done("bundle", `"b"`)
	return r
}

func differsAt(t *testing.T, err error, seq int64) *machine.Nondeterminism {
	t.Helper()
	var n *machine.Nondeterminism
	if !errors.As(err, &n) || n.Seq != seq {
		t.Fatalf("want a difference at %d, got %v", seq, err)
	}
	return n
}

// engine 3: the replay check finds a dropped event, a reordered pair, a changed event, a changed plan and a cut history.
func TestReplayFindsEveryDroppedEvent(t *testing.T) {
	t.Parallel()
	r := diamond(t)
	for i, e := range r.hist {
		if ev, err := e.Event(); err != nil || history.Fact(ev) {
			continue
		}
		cut := slices.Delete(slices.Clone(r.hist), i, i+1)
		_, err := replayed(r.p, stored(cut))
		if i+1 == len(r.hist) {
			if n := differsAt(t, err, e.Seq); n.Got != "" || !strings.HasPrefix(n.Expected, e.Type) {
				t.Errorf("dropped the last: %v", err)
			}
			continue
		}
		differsAt(t, err, e.Seq)
		for j := i; j < len(cut); j++ { // also when the numbers were closed up
			cut[j].Seq--
		}
		if n := differsAt(t, second(replayed(r.p, stored(cut))), e.Seq); !strings.HasPrefix(n.Expected, e.Type) {
			t.Errorf("dropped %d: %v", e.Seq, err)
		}
	}
}

func TestReplayFindsEveryReorderedPair(t *testing.T) {
	t.Parallel()
	r := diamond(t)
	for i := range len(r.hist) - 1 {
		swapped := slices.Clone(r.hist)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		derived, _ := r.hist[i+1].Event()
		if !history.Fact(derived) { // two facts in a row may have come in any order
			swapped[i].Seq, swapped[i+1].Seq = swapped[i+1].Seq, swapped[i].Seq
		}
		if _, err := replayed(r.p, stored(swapped)); err == nil {
			t.Errorf("swapping events %d and %d goes unnoticed", i+1, i+2)
		}
	}
}

func TestReplayFindsAChangedEventAndPlan(t *testing.T) {
	t.Parallel()
	r := diamond(t)
	changed := stored(r.hist)
	changed[2].Data = []byte(strings.Replace(string(changed[2].Data), "prepare_tree", "prepare_trees", 1))
	n := differsAt(t, second(replayed(r.p, changed)), 3)
	if !strings.Contains(n.Expected, `"prepare_tree"`) || !strings.Contains(n.Got, `"prepare_trees"`) {
		t.Errorf("%v", n)
	}
	other := document(t, "dag")
	other.Flow.Steps[1].Body[0].Name = "linted"
	differsAt(t, second(replayed(other, stored(r.hist))), 8)
	extra := append(stored(r.hist), r.hist[2])
	extra[len(extra)-1].Seq = int64(len(extra))
	differsAt(t, second(replayed(r.p, extra)), int64(len(extra)))
}

func second[T any](_ T, err error) error { return err }

// engine 2: the state at any point of a history is the fold of the events up to it.
func TestEveryPrefixFolds(t *testing.T) {
	t.Parallel()
	r := diamond(t)
	for n := range r.hist {
		rep := machine.NewReplayer(r.p)
		for _, e := range stored(r.hist[:n+1]) {
			if err := rep.Feed(e); err != nil {
				t.Fatalf("prefix %d: %v", n+1, err)
			}
		}
		_, err := rep.Done()
		if n+1 < len(r.hist) {
			next, _ := r.hist[n+1].Event()
			if complete := history.Fact(next); complete != (err == nil) {
				t.Errorf("prefix %d: %v", n+1, err)
			}
		}
	}
}
