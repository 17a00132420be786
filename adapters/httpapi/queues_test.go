package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aion/bootstrap"
)

const inDefault = "/api/v1/namespaces/default"

// until asks again until an answer is as it is wanted.
func (w *world) until(path string, as func(m map[string]any) bool) (m map[string]any) {
	w.t.Helper()
	w.untilRight(path, func(r reply) bool {
		m = r.object()
		return as(m)
	})
	return m
}

const pinned = `//! Work at one node.
workflow pinned
  input name: String
  outcome done: type String, route success

worker q
  action work(name: String) -> String
    node gpu

step do
  name |> work |> route done
`

// actions 73, 8.9: each reason shows in the run, in its namespace and with its queue, and is gone with a worker that can take the work.
func TestUnservedWorkHasItsReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(pinned)
	run := w.start("pinned", `{"name":"Ada"}`)
	reason := func(want string) {
		t.Helper()
		has := func(list any) bool {
			all := list.([]any)
			return want == "" && len(all) == 0 || len(all) == 1 && all[0].(map[string]any)["reason"] == want
		}
		w.until(run, func(m map[string]any) bool { return has(m["unserved"]) })
		m := w.until(inDefault+"/unserved", func(m map[string]any) bool { return has(m["unserved"]) })
		if want == "" {
			return
		}
		u := m["unserved"].([]any)[0].(map[string]any)
		if u["activity_type"] != "work" || u["node"] != "gpu" || fmt.Sprint(u["waiting"]) != "1" || u["hint"] == "" || len(u["workflows"].([]any)) != 1 {
			t.Errorf("%v", u)
		}
	}
	reason("no_worker")
	w.register("i1", "", `{"name":"work"}`)
	reason("no_worker_for_node")
	w.register("i2", `,"node":"gpu"`, `{"name":"wave"}`)
	reason("no_worker_for_action")
	me := w.register("i3", `,"node":"gpu","pinned_only":true`, `{"name":"work"}`)
	reason("")
	w.post(me+"/drain", "").ok(http.StatusOK)
	reason("draining")
	me = w.register("i4", `,"node":"gpu"`, `{"name":"work"}`)
	reason("")
	g := w.one(me, "p1")
	if g.Node == nil || *g.Node != "gpu" {
		t.Errorf("%+v", g)
	}
	w.post(me+"/heartbeat", fmt.Sprintf(`{"tasks":[{"task_id":%q,"lease_token":%q,"progress":{"done":0.5}}]}`, g.TaskID, g.LeaseToken)).ok(http.StatusOK)
	one := w.get(inDefault + "/workers/" + strings.TrimPrefix(me, workersPath+"/")).ok(http.StatusOK)
	if m := one.object(); m["state"] != "live" || fmt.Sprint(m["held"]) != "1" || fmt.Sprint(m["tasks"].([]any)[0].(map[string]any)["progress"]) != "map[done:0.5]" {
		t.Errorf("%v", m)
	}
	if strings.Contains(string(one.body), g.LeaseToken) {
		t.Error("a list shows a lease token")
	}
	queue := w.get(inDefault + "/queues/q").ok(http.StatusOK).object()
	if rows := fmt.Sprint(queue["nodes"]); !strings.Contains(rows, "running:1") || !strings.Contains(rows, "action:wave") {
		t.Errorf("%s", rows)
	}
	w.get(inDefault+"/queues/never").refused(http.StatusNotFound, "not_found", "QueueNotFound")
	w.get(inDefault+"/workers/never").refused(http.StatusNotFound, "not_found", "WorkerNotFound")
	if m := w.get(inDefault + "/queues?limit=1").ok(http.StatusOK).object(); len(m["queues"].([]any)) != 1 || m["next_cursor"] == nil {
		t.Errorf("%v", m)
	}
	for query, want := range map[string]int{"": 4, "?state=draining": 1, "?state=gone": 0, "?queue=other": 0, "?queue=q&limit=2": 2} {
		if m := w.get(inDefault + "/workers" + query).ok(http.StatusOK).object(); len(m["workers"].([]any)) != want {
			t.Errorf("%s: %v", query, m)
		}
	}
	w.settle(me, g, "complete", `,"result":"x"`).ok(http.StatusOK)
	w.ended(run)
}

// actions 8.2: what a worker has to serve is told before it registers.
func TestTheContractsOfAQueueAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(bounded)
	const contracts = workersPath + "/contracts"
	m := w.get(contracts + "?namespace=default&task_queue=q").ok(http.StatusOK).object()
	a := m["actions"].([]any)[0].(map[string]any)
	if a["name"] != "work" || fmt.Sprint(a["timeout_ms"]) != "1000" || a["declared_body"] != false || a["retry"] == nil || len(a["packages"].([]any)) != 1 {
		t.Errorf("%v", a)
	}
	w.get(contracts).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	w.get(contracts+"?namespace=default&task_queue=never").refused(http.StatusNotFound, "not_found", "QueueNotFound")
}

// actions 8.8: the bound of a namespace holds for leases, and what waits behind it is throttled.
func TestLeasesCountAgainstTheBoundOfTheirNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *bootstrap.Config) { c.NamespaceMaxInFlight = 1 })
	w.deploy(greeting)
	me := w.register("i1", "", `{"name":"greet"}`)
	first, second := w.start("greeting", `{"name":"Ada"}`), w.start("greeting", `{"name":"Bob"}`)
	g := w.one(me, "p1")
	if got := w.poll(me, "p2", 1, 0); len(got) != 0 {
		t.Errorf("%v", got)
	}
	w.until(inDefault+"/unserved", func(m map[string]any) bool {
		all := m["unserved"].([]any)
		return len(all) == 1 && all[0].(map[string]any)["reason"] == "throttled"
	})
	w.settle(me, g, "complete", `,"result":"x"`).ok(http.StatusOK)
	w.settle(me, w.one(me, "p3"), "complete", `,"result":"x"`).ok(http.StatusOK)
	w.ended(first)
	w.ended(second)
}
