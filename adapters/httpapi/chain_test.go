package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"aion/bootstrap"
)

// laps runs one action per pass, so that its history goes on in new generations.
const laps = `//! One action per pass.
workflow laps
  input passes: Int
  outcome done: type Done, route success

type Done { count: Int }

worker bench
  action touch(n: Int) -> String
    run "true" capture text

step all
  loop text = "" counting pass
    touch(n: pass) -> text
    until pass == passes
    max 10000

  outcome finished: otherwise, route done(count: pass)
`

func whole(t *testing.T, n any) int64 {
	t.Helper()
	i, err := n.(json.Number).Int64()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// server 17
func TestEachGenerationOfAChainIsReadAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *bootstrap.Config) { c.EngineHistoryLimit = 20 })
	w.deploy(laps)
	run := w.start("laps", `{"passes":20}`)
	end := w.ended(run).object()
	list := w.get(run + "/generations").ok(200).object()["generations"].([]any)
	if len(list) < 3 {
		t.Fatalf("%d generations", len(list))
	}
	var last int64
	for i, g := range list {
		one := g.(map[string]any)
		id, first := one["run_id"].(string), whole(t, one["first_seq"])
		if first != last+1 || whole(t, one["generation"]) != int64(i+1) {
			t.Errorf("generation %d begins with %d, after %d", i+1, first, last)
		}
		last = whole(t, one["last_seq"])
		for _, order := range []string{"asc", "desc"} {
			page := w.get(fmt.Sprintf("%s/history?limit=1000&order=%s&run_id=%s", run, order, id)).ok(200).object()
			events := page["events"].([]any)
			if int64(len(events)) != last-first+1 || page["more"] != false {
				t.Errorf("%d events of generation %d, want %d", len(events), i+1, last-first+1)
			}
			for _, e := range events {
				if e.(map[string]any)["run_id"] != id {
					t.Errorf("generation %d has the event %v", i+1, e)
				}
			}
		}
		feed := events(w.stream(run + "/history/stream?run_id=" + id))
		if got := feed[len(feed)-1]; int64(len(feed)) != last-first+2 || got.name != "close" || feed[0].id != fmt.Sprint(first) {
			t.Errorf("the stream of generation %d has %d events and ends with %v", i+1, len(feed), got)
		}
		w.get(fmt.Sprintf("%s/history/stream?run_id=%s&from_seq=%d", run, id, last+1)).ok(http.StatusNoContent)
		d := w.get(run + "?run_id=" + id).ok(200).object()
		if whole(t, d["generations"]) != int64(len(list)) || d["is_latest_run"] != (i == len(list)-1) || (d["next_run_id"] == nil) != (i == len(list)-1) {
			t.Errorf("generation %d is described as %v", i+1, d)
		}
	}
	if got := events(w.stream(run + "/history/stream")); int64(len(got)) != last+1 {
		t.Errorf("%d events of a chain of %d", len(got), last)
	}
	if end["status"] != "Completed" || end["run_id"] != list[len(list)-1].(map[string]any)["run_id"] {
		t.Errorf("the outcome of the chain is %v", end)
	}
	w.get(run + "/outcome?run_id=" + list[0].(map[string]any)["run_id"].(string)).ok(200)
	page := w.get(run + "/generations?limit=2").ok(200).object()
	next := w.get(run + "/generations?limit=500&cursor=" + page["next_cursor"].(string)).ok(200).object()
	if got := len(page["generations"].([]any)) + len(next["generations"].([]any)); got != len(list) || next["next_cursor"] != nil {
		t.Errorf("%d generations in pages of %d", got, len(list))
	}
}
