package language_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"aion/domain/history"
	"aion/test/language"
)

// tally counts what random documents were made of and how they ended.
type tally struct {
	mu   sync.Mutex
	seen map[string]int
}

func newTally() *tally { return &tally{seen: map[string]int{}} }

func (y *tally) add(what ...string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, w := range what {
		y.seen[w]++
	}
}

// count notes a run: the words of its plan, the types of its events and its end.
func (y *tally) count(p *language.Player, d *language.Direct, r language.Result) {
	found := map[string]bool{"documents": true, "ends " + string(r.Status) + " " + r.Code: true, "racy": d.Racy, "cut": d.Cut}
	for _, e := range p.History {
		found["event "+e.Type] = true
	}
	text, err := json.Marshal(p.Plan)
	if err != nil {
		panic(err)
	}
	for part := range strings.SplitSeq(string(text), `"op":"`) {
		op, _, _ := strings.Cut(part, `"`)
		found["op "+op] = true
	}
	for _, member := range []string{"handler", "visits", "after", "sequential", "tolerant", "branches", "counter", "fall_through", "yield"} {
		found["with "+member] = strings.Contains(string(text), `"`+member+`":`)
	}
	maps.DeleteFunc(found, func(_ string, yes bool) bool { return !yes })
	y.add(slices.Collect(maps.Keys(found))...)
}

// constructs is everything that documents must be made of for the test to mean anything.
func constructs() []string {
	var all []string
	for _, op := range []string{
		"call", "child", "spawn", "subflow", "pipe", "wait", "sleep", "route", "fork", "loop", "distribute", "sequence", "collect", "group",
		"expr", "lit", "ref", "item", "visits", "workflow_id", "list", "record", "field", "index", "not", "and", "or", "eq", "ne", "lt", "le",
		"gt", "ge", "add", "is_empty", "is_present", "is_absent", "filter", "map", "sort", "count", "any", "all",
	} {
		all = append(all, "op "+op)
	}
	for _, m := range []string{"handler", "visits", "after", "sequential", "tolerant", "branches", "counter", "fall_through", "yield"} {
		all = append(all, "with "+m)
	}
	for _, e := range []history.Event{
		history.StepEntered{},
		history.OutcomeTaken{},
		history.StepFailed{},
		history.ForkStarted{},
		history.ForkJoined{},
		history.LoopPass{},
		history.LoopEnded{},
		history.RegionOpened{},
		history.RegionSlot{},
		history.RegionClosed{},
		history.SubflowEntered{},
		history.SubflowLeft{},
		history.ActivityCancelled{},
		history.TimerCancelled{},
		history.ChildStarted{},
		history.ChildCompleted{},
		history.ChildFailed{},
		history.WorkflowCompleted{},
		history.WorkflowFailed{},
	} {
		all = append(all, "event "+e.Type())
	}
	return append(all, "ends Completed ", "ends Failed ", "ends Failed activity_failed", "ends Failed child_failed",
		"ends Failed result_invalid", "ends Failed index_out_of_range", "ends Failed visits_exceeded")
}

// report prints the shares and, among enough documents, fails for a construct that none used.
func (y *tally) report(t *testing.T) {
	t.Helper()
	n := y.seen["documents"]
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(y.seen)) {
		if strings.HasPrefix(what, "ends") || what == "racy" || what == "cut" || what == "chained" {
			lines = append(lines, fmt.Sprintf("%s: %d", what, y.seen[what]))
		}
	}
	t.Logf("%d documents; %s", n, strings.Join(lines, ", "))
	for _, c := range constructs() {
		if y.seen[c] == 0 && n >= ciDocuments/2 {
			t.Errorf("no document of %d shows %s", n, c)
		}
	}
	for what, k := range y.seen {
		if testing.Verbose() && k*50 < n {
			t.Logf("rare: %s: %d", what, k)
		}
	}
}
