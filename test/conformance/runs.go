package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// Runs is the port of the suite RunIndex with the port that fills it.
type Runs interface {
	ports.EventStore
	ports.RunIndex
	ports.ChangeLog
}

// RunIndex runs the suite of ports.RunIndex.
func RunIndex(t *testing.T, open func(testing.TB) Runs) {
	run(t, open, map[string]func(*testing.T, Runs){
		"an unknown workflow has no runs":                runsOfUnknown,
		"a row comes back whole, and changes whole":      rowReturns,
		"a chain is listed by generation":                chainOfRuns,
		"a refused commit leaves the row as it was":      refusedRow,
		"a workflow has no runs in another namespace":    foreignRuns,
		"every filter selects, alone and with others":    filters,
		"pages give every run once while others start":   stablePages,
		"rows that started at one moment page by run id": tiedPages,
		"open runs pin their version":                    pinnedRuns,
		"a run that has ended goes on":                   reopenedRun,
		"a list shows what moves on with each commit":    movingParts,
		"changes are told once and in order":             toldChanges,
		"changes that are old are dropped, and missed":   droppedChanges,
	})
}

func runsOfUnknown(t *testing.T, s Runs) {
	rows, err := s.Runs(t.Context(), newFlow(1).id)
	same(t, "runs", must(t, rows, err), []history.RunRow(nil))
	listed, err := s.List(t.Context(), ports.RunFilter{Namespace: namespace}, nil, 10)
	same(t, "list", must(t, listed, err), []history.ListedRun(nil))
}

func rowReturns(t *testing.T, s Runs) {
	f := newFlow(1)
	full := f.row(history.Running)
	full.Parent = &history.Parent{WorkflowID: domain.WorkflowID(id(7)), RunID: domain.RunID(id(8)), Child: 0}
	full.Labels = map[string]string{"team": "é<&>", "empty": ""}
	full.PreviousRunID = domain.RunID(id(9))
	c := f.started()
	c.Rows = []history.RunRow{full}
	mustAppend(t, s, c)
	rows, err := s.Runs(t.Context(), f.id)
	same(t, "a new row", must(t, rows, err), []history.RunRow{full})

	full.Status, full.PausedReason = history.Paused, "nondeterminism at event 7"
	c = f.next(step(1))
	c.Rows = []history.RunRow{full}
	mustAppend(t, s, c)
	full.Status, full.PausedReason, full.EndedAt, full.Outcome = history.Completed, "", start.Add(time.Minute), "done"
	c = f.next(step(2))
	c.Rows = []history.RunRow{full}
	mustAppend(t, s, c, f.next(step(3))) // a commit without a row changes none
	rows, err = s.Runs(t.Context(), f.id)
	same(t, "an ended row", must(t, rows, err), []history.RunRow{full})
}

func chainOfRuns(t *testing.T, s Runs) { // engine 6
	f := newFlow(1)
	mustAppend(t, s, f.started())
	want := []history.RunRow{f.row(history.Running)}
	for g := 2; g <= 12; g++ {
		ended := &want[len(want)-1]
		ended.Status, ended.EndedAt = history.ContinuedAsNew, start.Add(time.Hour)
		next := f.row(history.Running)
		next.Generation, next.RunID, next.PreviousRunID, next.FirstSeq = g, domain.RunID(id(100-g)), ended.RunID, f.head+1
		c := f.next(step(1))
		c.Rows = []history.RunRow{*ended, next}
		mustAppend(t, s, c)
		want = append(want, next)
	}
	rows, err := s.Runs(t.Context(), f.id)
	same(t, "chain", must(t, rows, err), want)
}

func reopenedRun(t *testing.T, s Runs) { // engine 10
	f := newFlow(1)
	mustAppend(t, s, f.started())
	put := func(status history.Status) history.RunRow {
		row := f.row(status)
		if status.Terminal() {
			row.Outcome, row.FailureCode, row.FailureMessage = "lost", "broken", "it is broken"
		}
		c := f.next(step(f.head))
		c.Rows = []history.RunRow{row}
		mustAppend(t, s, c)
		return row
	}
	open := ports.RunFilter{Namespace: namespace, Status: history.Running}
	ended := ports.RunFilter{Namespace: namespace, EndedAfter: start}
	for range 2 {
		put(history.Failed)
		row := put(history.Running)
		rows, err := s.Runs(t.Context(), f.id)
		same(t, "the row", must(t, rows, err), []history.RunRow{row})
		listed, err := s.List(t.Context(), open, nil, 10)
		same(t, "the open ones", rowsOf(must(t, listed, err)), []history.RunRow{row})
		listed, err = s.List(t.Context(), ended, nil, 10)
		same(t, "the ended ones", rowsOf(must(t, listed, err)), []history.RunRow(nil))
		_, n, err := s.PinnedBy(t.Context(), row.PackageVersion, nil, 1)
		same(t, "holders", must(t, n, err), int64(1))
	}
}

func movingParts(t *testing.T, s Runs) { // server 1.6
	f := newFlow(1)
	listed := func() history.ListedRun {
		list, err := s.List(t.Context(), ports.RunFilter{Namespace: namespace, Order: ports.OldestFirst}, nil, 10)
		return must(t, list, err)[0]
	}
	c := f.started()
	mustAppend(t, s, c)
	same(t, "before any step", listed(), history.ListedRun{RunRow: c.Rows[0], HeadSeq: f.head})
	for n := range 3 {
		moved := f.next(step(1), step(2))
		moved.Current = &history.CurrentStep{ActivityID: int64(n), ActivityType: odd, Attempt: n + 1, Step: "build"}
		want := *moved.Current
		want.ActivityType = strings.ToValidUTF8(odd, "\uFFFD")
		moved.Current.ActivityType = want.ActivityType
		other := newFlow(2 + n).started()
		mustAppend(t, s, moved, other) // together with another one
		same(t, "in a step", listed(), history.ListedRun{RunRow: c.Rows[0], HeadSeq: f.head, Current: &want})
	}
	// Two that move at once, without a row.
	g := newFlow(2)
	g.head = 1
	one, two := f.next(step(3)), g.next(step(3))
	one.Current = &history.CurrentStep{ActivityID: 7, ActivityType: "a", Attempt: 1, Step: "s"}
	mustAppend(t, s, one, two)
	same(t, "in a group", listed(), history.ListedRun{RunRow: c.Rows[0], HeadSeq: f.head, Current: one.Current})
	ended, next := f.row(history.ContinuedAsNew), f.row(history.Running)
	next.Generation, next.RunID, next.PreviousRunID, next.FirstSeq, next.StartedAt = 2, domain.RunID(id(99)), f.run, f.head+2, start.Add(time.Hour)
	switched := f.next(step(4), step(5))
	switched.Rows, switched.Current = []history.RunRow{ended, next}, one.Current
	mustAppend(t, s, switched)
	same(t, "an earlier generation", listed(), history.ListedRun{RunRow: ended, HeadSeq: next.FirstSeq - 1})
	list, err := s.List(t.Context(), ports.RunFilter{Namespace: namespace}, nil, 1)
	same(t, "the latest one", must(t, list, err), []history.ListedRun{{RunRow: next, HeadSeq: f.head, Current: one.Current}})
}

// rowsOf are the rows of a list alone.
func rowsOf(list []history.ListedRun) []history.RunRow {
	rows := make([]history.RunRow, len(list))
	for i, l := range list {
		rows[i] = l.RunRow
	}
	return rows
}

func foreignRuns(t *testing.T, s Runs) { // server 8
	f := newFlow(1)
	first := f.started()
	mustAppend(t, s, first)
	own, err := s.RunsIn(t.Context(), namespace, f.id)
	same(t, "its own namespace", must(t, own, err), first.Rows)
	for _, ns := range []domain.Namespace{"other", ""} {
		foreign, err := s.RunsIn(t.Context(), ns, f.id)
		same(t, "another namespace", must(t, foreign, err), []history.RunRow(nil))
	}
	missing, err := s.RunsIn(t.Context(), namespace, newFlow(2).id)
	same(t, "a missing workflow", must(t, missing, err), []history.RunRow(nil))
}

func refusedRow(t *testing.T, s Runs) {
	f := newFlow(1)
	first := f.started()
	mustAppend(t, s, first)
	late := history.Commit{Namespace: namespace, WorkflowID: f.id, ExpectedSeq: 7, Rows: []history.RunRow{f.row(history.Failed)}}
	wantCode(t, appendOne(t.Context(), s, late), domain.CodeSequenceConflict, "SequenceConflict")
	rows, err := s.Runs(t.Context(), f.id)
	same(t, "runs", must(t, rows, err), first.Rows)
}

// fill stores n runs of several namespaces, types and statuses, a second apart.
func fill(t *testing.T, s Runs, n int) []history.RunRow {
	t.Helper()
	var rows []history.RunRow
	var commits []history.Commit
	statuses := []history.Status{history.Running, history.Paused, history.Completed, history.Failed, history.Cancelled, history.TimedOut, history.ContinuedAsNew}
	for i := range n {
		f := newFlow(i + 1)
		row := f.row(statuses[i%len(statuses)])
		row.Namespace = domain.Namespace(fmt.Sprintf("ns%d", i%2))
		row.WorkflowType = fmt.Sprintf("type%d", i%3)
		row.PackageVersion = hash(i % 3)
		row.StartedAt = start.Add(time.Duration(i) * time.Second)
		if row.Status.Terminal() {
			row.EndedAt = start.Add(time.Duration(i*37%60+60) * time.Minute) // in another order than the starts
		}
		row.Labels = map[string]string{"team": fmt.Sprintf("t%d", i%4), `odd`: `a "quoted" <value>, "team":"t0"`}
		if i%5 == 0 {
			row.Parent = &history.Parent{WorkflowID: newFlow(7).id, RunID: newFlow(7).run, Child: 1}
		}
		c := f.started()
		c.Namespace, c.Rows = row.Namespace, []history.RunRow{row}
		rows, commits = append(rows, row), append(commits, c)
	}
	mustAppend(t, s, commits...)
	return rows
}

func filters(t *testing.T, s Runs) {
	all := fill(t, s, 120)
	for _, f := range []ports.RunFilter{
		{Namespace: "ns0"},
		{Namespace: "ns1"},
		{Namespace: "nowhere"},
		{Namespace: "ns0", Status: history.Failed},
		{Namespace: "ns1", WorkflowType: "type2"},
		{Namespace: "ns0", WorkflowType: "type0", Status: history.Running},
		{Namespace: "ns0", Status: "running"},
		{Namespace: "ns0", StartedAfter: start.Add(30 * time.Second)},
		{Namespace: "ns0", StartedBefore: start.Add(30 * time.Second)},
		{Namespace: "ns0", StartedAfter: start.Add(30*time.Second + 1), StartedBefore: start.Add(60*time.Second + 1)},
		{Namespace: "ns1", Status: history.Paused, WorkflowType: "type1", StartedAfter: start.Add(10 * time.Second), StartedBefore: start.Add(100 * time.Second)},
		{Namespace: "ns0", Statuses: []history.Status{history.Failed, history.Running}},
		{Namespace: "ns1", PackageVersion: hash(2)},
		{Namespace: "ns0", Parent: newFlow(7).id},
		{Namespace: "ns0", EndedAfter: start.Add(-time.Hour)},
		{Namespace: "ns0", EndedBefore: start.Add(24 * time.Hour), Status: history.Running},
		{Namespace: "ns0", EndedAfter: start.Add(-time.Hour), EndedBefore: start.Add(24 * time.Hour)},
		{Namespace: "ns0", Labels: map[string]string{"team": "t0"}},
		{Namespace: "ns0", Labels: map[string]string{"team": "t2", `odd`: `a "quoted" <value>, "team":"t0"`}},
		{Namespace: "ns0", Labels: map[string]string{"tea": "t0"}},
		{Namespace: "ns0", Labels: map[string]string{"team": "t"}},
		{Namespace: "ns0", Prefix: "type1"},
		{Namespace: "ns0", Prefix: string(newFlow(3).id)},
		{Namespace: "ns0", Prefix: string(newFlow(3).run)[:34]},
		{Namespace: "ns0", Prefix: "ype"},
		{Namespace: "ns0", Order: ports.OldestFirst, Status: history.Failed},
		{Namespace: "ns0", Order: ports.LastEndedFirst},
		{Namespace: "ns1", Order: ports.LastEndedFirst, EndedAfter: start.Add(90 * time.Minute), Labels: map[string]string{"team": "t1"}},
		{Namespace: "ns0", FailedSince: start.Add(90 * time.Minute)},
		{Namespace: "ns0", FailedSince: start, WorkflowType: "type1", Order: ports.LastEndedFirst},
	} {
		var want []history.RunRow
		for i := len(all) - 1; i >= 0; i-- {
			if fits(f, all[i]) {
				want = append(want, all[i])
			}
		}
		switch f.Order {
		case ports.OldestFirst:
			slices.Reverse(want)
		case ports.LastEndedFirst:
			slices.SortFunc(want, func(a, b history.RunRow) int {
				return cmp.Or(b.EndedAt.Compare(a.EndedAt), cmp.Compare(b.RunID, a.RunID))
			})
		case ports.NewestFirst:
		}
		got, err := s.List(t.Context(), f, nil, 1000)
		same(t, fmt.Sprintf("list of %+v", f), rowsOf(must(t, got, err)), want)
		n, err := s.Count(t.Context(), f)
		counts := map[history.Status]int64{}
		for _, row := range want {
			counts[row.Status]++
		}
		same(t, fmt.Sprintf("count of %+v", f), must(t, n, err), counts)
		if len(want) < 3 {
			continue
		}
		at := ports.PositionOf(want[1], f.Order)
		got, err = s.List(t.Context(), f, &at, 1)
		same(t, fmt.Sprintf("page of %+v", f), rowsOf(must(t, got, err)), want[2:3])
	}
	none, err := s.List(t.Context(), ports.RunFilter{Namespace: "ns0"}, nil, 0)
	same(t, "a page of nothing", must(t, none, err), []history.ListedRun(nil))
}

func fits(f ports.RunFilter, r history.RunRow) bool {
	for key, value := range f.Labels {
		if r.Labels[key] != value {
			return false
		}
	}
	failed := (r.Status == history.Failed || r.Status == history.TimedOut) && !r.EndedAt.Before(f.FailedSince)
	if !f.FailedSince.IsZero() && !failed || f.Order == ports.LastEndedFirst && r.EndedAt.IsZero() {
		return false
	}
	named := strings.HasPrefix(string(r.WorkflowID), f.Prefix) || strings.HasPrefix(string(r.RunID), f.Prefix) || strings.HasPrefix(r.WorkflowType, f.Prefix)
	ended := !r.EndedAt.IsZero()
	return r.Namespace == f.Namespace && (f.Status == "" || f.Status == r.Status) && (f.WorkflowType == "" || f.WorkflowType == r.WorkflowType) &&
		!r.StartedAt.Before(f.StartedAfter) && (f.StartedBefore.IsZero() || r.StartedAt.Before(f.StartedBefore)) &&
		(len(f.Statuses) == 0 || slices.Contains(f.Statuses, r.Status)) && (f.PackageVersion == "" || f.PackageVersion == r.PackageVersion) &&
		(f.Parent == "" || r.Parent != nil && r.Parent.WorkflowID == f.Parent) && (f.EndedAfter.IsZero() || ended && !r.EndedAt.Before(f.EndedAfter)) &&
		(f.EndedBefore.IsZero() || ended && r.EndedAt.Before(f.EndedBefore)) && named
}

func stablePages(t *testing.T, s Runs) {
	all := fill(t, s, 100)
	filter := ports.RunFilter{Namespace: "ns0"}
	var got []history.RunRow
	var after *ports.RunPosition
	for n := 1000; ; n++ {
		page, err := s.List(t.Context(), filter, after, 7)
		if len(must(t, page, err)) == 0 {
			break
		}
		got = append(got, rowsOf(page)...)
		at := ports.PositionOf(got[len(got)-1], ports.NewestFirst)
		after = &at
		f := newFlow(n)
		c := f.started()
		c.Namespace, c.Rows[0].Namespace, c.Rows[0].StartedAt = "ns0", "ns0", start.Add(time.Hour)
		mustAppend(t, s, c)
	}
	var want []history.RunRow
	for i := len(all) - 2; i >= 0; i -= 2 {
		want = append(want, all[i])
	}
	same(t, "pages", got, want)
}

func tiedPages(t *testing.T, s Runs) {
	const n = 25
	var commits []history.Commit
	for i := range n {
		commits = append(commits, newFlow(i+1).started())
	}
	mustAppend(t, s, commits...)
	for _, order := range []ports.RunOrder{ports.NewestFirst, ports.OldestFirst} {
		var after *ports.RunPosition
		for i := n; i > 0; i-- {
			page, err := s.List(t.Context(), ports.RunFilter{Namespace: namespace, Order: order}, after, 1)
			if len(must(t, page, err)) != 1 {
				t.Fatalf("%d rows before the last page", len(page))
			}
			want := newFlow(i).run
			if order == ports.OldestFirst {
				want = newFlow(n - i + 1).run
			}
			same(t, "run", page[0].RunID, want)
			at := ports.PositionOf(page[0].RunRow, order)
			after = &at
		}
	}
}

func pinnedRuns(t *testing.T, s Runs) { // engine 16
	all := fill(t, s, 63)
	var want []history.RunRow
	for i := len(all) - 1; i >= 0; i-- {
		if r := all[i]; r.PackageVersion == hash(1) && !r.Status.Terminal() {
			want = append(want, r)
		}
	}
	rows, n, err := s.PinnedBy(t.Context(), hash(1), nil, 4)
	same(t, "holders", must(t, rows, err), want[:4])
	same(t, "number of holders", n, int64(len(want)))
	for _, in := range [][]domain.Namespace{{}, {"ns0"}, {"ns1", "nowhere"}, {"ns0", "ns1"}} {
		var own []history.RunRow
		for _, row := range want {
			if slices.Contains(in, row.Namespace) {
				own = append(own, row)
			}
		}
		rows, n, err := s.PinnedBy(t.Context(), hash(1), in, 3)
		same(t, fmt.Sprintf("holders in %v", in), must(t, rows, err), own[:min(len(own), 3)])
		same(t, fmt.Sprintf("number in %v", in), n, int64(len(own)))
	}
	rows, n, err = s.PinnedBy(t.Context(), hash(99), nil, 4)
	same(t, "holders of an unused version", must(t, rows, err), []history.RunRow(nil))
	same(t, "their number", n, int64(0))
}
