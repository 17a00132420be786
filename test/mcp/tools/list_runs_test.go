package tools_test

import (
	"strings"
	"testing"
	"time"

	"aion/domain/history"
)

// mcp 47
func TestListRunsFiltersAndPages(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store})
	w.deploy("gate.awl", gateDoc)
	const old = 1000
	for n := range old {
		s := seed(t, store, n)
		s.at = s.at.Add(time.Duration(n/3) * time.Second) // some start at the same time
		s.add(s.generation())
		if n%10 == 0 {
			s.add(history.WorkflowCancelled{By: "op", Reason: "test"})
		}
	}
	seen, pages := map[string]int{}, 0
	last, lastID := "9", ""
	for cursor := ""; ; pages++ {
		a := args{"namespace": "default"}
		if cursor != "" {
			a["cursor"] = cursor
		}
		page := w.ok("list_runs", a)
		if page.text("namespace") != "default" {
			t.Errorf("namespace %q", page.text("namespace"))
		}
		for _, row := range page.list("runs") {
			seen[row.text("run_id")]++
			if at, id := row.text("started_at"), row.text("run_id"); at > last || at == last && id >= lastID && lastID != "" {
				t.Fatalf("%s %s after %s %s", at, id, last, lastID)
			} else {
				last, lastID = at, id
			}
		}
		if page.null("next_cursor") {
			break
		}
		next := page.text("next_cursor")
		if next == "" || next == cursor || len(page.list("runs")) == 0 { // report 58
			t.Fatalf("the cursor %q does not advance", next)
		}
		cursor = next
		w.start("gate", nil)
	}
	if len(seen) != old || pages < 10 {
		t.Errorf("%d old rows in %d pages", len(seen), pages)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s was listed %d times", id, n)
		}
	}
	for what, c := range map[string]struct {
		filter args
		want   int
	}{
		"cancelled": {args{"status": "Cancelled", "limit": 200}, 100}, "type": {args{"workflow_type": "gate", "limit": 200}, pages},
		"no such type": {args{"workflow_type": "none"}, 0}, "paused": {args{"status": "Paused"}, 0},
		"window": {args{"started_after": "2026-07-28T10:00:00Z", "started_before": "2026-07-28T12:00:10+02:00", "limit": 200}, 30},
		"limit":  {args{"limit": 7}, 7},
	} {
		if got := w.ok("list_runs", with(c.filter, "namespace", "default")); len(got.list("runs")) != c.want {
			t.Errorf("%s: %d rows, want %d", what, len(got.list("runs")), c.want)
		}
	}
	cursor := w.ok("list_runs", args{"namespace": "default", "limit": 7}).text("next_cursor")
	for what, a := range map[string]args{
		"other filters": {"namespace": "default", "cursor": cursor, "status": "Running"}, "other namespace": {"namespace": "other", "cursor": cursor},
		"no cursor": {"namespace": "default", "cursor": "x"}, "foreign bytes": {"namespace": "default", "cursor": "ä/+"},
	} {
		if got := w.refused("list_runs", a, "invalid_input", "CursorInvalid"); !strings.Contains(got.Message, "without a cursor") {
			t.Errorf("%s: %s", what, got.Message)
		}
	}
	if got := w.ok("list_runs", args{"namespace": "empty"}); got.members["runs"] == nil || len(got.list("runs")) != 0 || !got.null("next_cursor") {
		t.Errorf("an empty namespace: %v", got.members)
	}
}

// mcp 47, mcp 54: a page that ends early goes on without a gap.
func TestListRunsEndsAPageEarly(t *testing.T) {
	t.Parallel()
	store := newStore()
	w := open(t, settings{backend: store, maxResult: 4096})
	const rows = 60
	for n := range rows {
		s := seed(t, store, n)
		s.add(s.generation())
	}
	seen := map[string]bool{}
	a := args{"namespace": "default", "limit": 50}
	for {
		reply := w.call("list_runs", a)
		structured := reply.Result(t).Structured
		if len(structured) > 4096 {
			t.Errorf("a page of %d bytes", len(structured))
		}
		page := decode(t, structured)
		for _, row := range page.list("runs") {
			if seen[row.text("run_id")] {
				t.Errorf("%s twice", row.text("run_id"))
			}
			seen[row.text("run_id")] = true
		}
		if page.null("next_cursor") {
			break
		}
		a["cursor"] = page.text("next_cursor")
	}
	if len(seen) != rows {
		t.Errorf("%d rows of %d", len(seen), rows)
	}
}
