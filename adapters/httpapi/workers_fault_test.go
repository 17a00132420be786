package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"aion/bootstrap"
	"aion/domain/action"
	"aion/ports"
)

// brief leases end soon after their worker has fallen silent.
func brief(c *bootstrap.Config) {
	c.WorkersHeartbeatInterval, c.WorkersLeaseTTL, c.EnginePollInterval = 10*time.Second, 300*time.Millisecond, 20*time.Millisecond
}

// actions 68, engine 11: an attempt whose worker is silent is lost, the next one follows at once under its own number, and what
// the first worker says later is refused.
func TestALeaseThatEndsIsFollowedByAnotherAttempt(t *testing.T) {
	t.Parallel()
	for name, tune := range map[string]func(*bootstrap.Config){"memory": func(*bootstrap.Config) {}, "sqlite": onSQLite} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, brief, tune)
			w.deploy(greeting)
			run := w.start("greeting", `{"name":"Ada"}`)
			me := w.register("i1", "", `{"name":"greet"}`)
			first := w.one(me, "p1")
			second := w.one(me, "p2") // waits for the end of the first lease
			if second.Attempt != 2 || second.IdempotencyKey != first.IdempotencyKey || second.TaskID == first.TaskID {
				t.Errorf("%+v after %+v", second, first)
			}
			refusal := w.settle(me, first, "complete", `,"result":"late"`).refused(http.StatusConflict, "invalid_state", "LeaseLost").object()
			if d := refusal["details"].(map[string]any); d["reason"] != "expired" || fmt.Sprint(d["current_attempt"]) != "2" {
				t.Errorf("%v", d)
			}
			w.settle(me, first, "extend", `,"lease_ms":1000`).refused(http.StatusConflict, "invalid_state", "LeaseLost")
			var beat struct {
				Tasks []struct{ Status, Reason string }
			}
			w.post(me+"/heartbeat", fmt.Sprintf(`{"tasks":[{"task_id":%q,"lease_token":%q},{"task_id":%q,"lease_token":%q,"progress":{"done":1}},{"task_id":"never","lease_token":"x"}]}`,
				first.TaskID, first.LeaseToken, second.TaskID, second.LeaseToken)).ok(http.StatusOK).into(&beat)
			if got := fmt.Sprint(beat.Tasks); got != "[{lost expired} {ok } {lost unknown}]" {
				t.Error(got)
			}
			w.settle(me, second, "complete", `,"result":"hello"`).ok(http.StatusOK)
			w.ended(run)
			if events := string(w.get(run + "/history?limit=100").ok(http.StatusOK).body); !strings.Contains(events, "lease_expired") {
				t.Error(events)
			}
		})
	}
}

// actions 8.2: a worker without a call for three heartbeats is gone, and its lease is still worth its token.
func TestAGoneWorkersLeaseIsStillSettled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *bootstrap.Config) {
		c.WorkersHeartbeatInterval, c.WorkersLeaseTTL = 700*time.Millisecond, time.Minute
	})
	w.deploy(greeting)
	run := w.start("greeting", `{"name":"Ada"}`)
	me := w.register("i1", "", `{"name":"greet"}`)
	g := w.one(me, "p1")
	w.until(inDefault+"/workers/"+strings.TrimPrefix(me, workersPath+"/"), func(m map[string]any) bool { return m["state"] == "gone" })
	w.post(me+"/heartbeat", `{"tasks":[]}`).refused(http.StatusNotFound, "not_found", "WorkerNotFound")
	w.settle(me, g, "complete", `,"result":"hello"`).ok(http.StatusOK)
	w.ended(run)
	again := w.post(workersPath, `{"instance_id":"i1","identity":"x","namespaces":["default"],"task_queue":"q","max_concurrency":1,"actions":[{"name":"greet"}]}`).ok(http.StatusOK)
	if !strings.HasSuffix(me, again.text("worker_id")) {
		t.Errorf("the instance got another id: %s", again.body)
	}
}

// actions 8.3, 67: a lost answer costs nothing, and a poll that leaves loses no task.
func TestNoTaskIsLostByAPoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(greeting)
	me := w.register("i1", "", `{"name":"greet"}`)
	run := w.start("greeting", `{"name":"Ada"}`)
	first := w.one(me, "p1")
	again := w.one(me, "p1")
	if again.TaskID != first.TaskID || again.Attempt != 1 || again.LeaseToken == first.LeaseToken {
		t.Errorf("%+v after %+v", again, first)
	}
	w.settle(me, first, "complete", `,"result":"x"`).refused(http.StatusNotFound, "not_found", "WorkerTaskNotFound")
	w.settle(me, again, "release", "").ok(http.StatusOK)
	w.settle(me, again, "release", "").ok(http.StatusOK)
	w.settle(me, again, "complete", `,"result":"x"`).refused(http.StatusConflict, "invalid_state", "LeaseLost")
	for range 20 { // a client that leaves while it waits, or while it is answered
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Millisecond)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+me+"/poll", strings.NewReader(`{"poll_id":"gone","max_tasks":1,"wait_ms":50}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
		}
		cancel()
	}
	// Whatever became of those polls, the task is there: back in the queue, or in the hands of the last of them.
	var g []given
	for len(g) == 0 {
		if g = w.poll(me, "gone", 1, 200); len(g) == 0 {
			g = w.poll(me, "p2", 1, 200)
		}
	}
	if g[0].TaskID != first.TaskID || g[0].Attempt != 1 {
		t.Errorf("%+v", g[0])
	}
	w.settle(me, g[0], "complete", `,"result":"hello"`).ok(http.StatusOK)
	w.ended(run)
}

// actions 47 for remote attempts: the worker of a cancelled run is told to stop, and its result is not taken.
func TestACancelReachesTheWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(greeting)
	run := w.start("greeting", `{"name":"Ada"}`)
	me := w.register("i1", "", `{"name":"greet"}`)
	g := w.one(me, "p1")
	w.post(run+"/cancel", `{"reason":"enough"}`).ok(http.StatusOK)
	for range 2 {
		m := w.post(me+"/heartbeat", fmt.Sprintf(`{"tasks":[{"task_id":%q,"lease_token":%q}]}`, g.TaskID, g.LeaseToken)).ok(http.StatusOK).object()
		if s := m["tasks"].([]any)[0].(map[string]any); s["status"] != "cancel" || s["reason"] != "run_closed" {
			t.Errorf("%v", s)
		}
	}
	w.settle(me, g, "complete", `,"result":"late"`).refused(http.StatusConflict, "invalid_state", "LeaseLost")
	if m := w.post(me+"/drain", "").ok(http.StatusOK).object(); fmt.Sprint(m["held"]) != "0" {
		t.Errorf("%v", m)
	}
	if m := w.post(me+"/poll", `{"poll_id":"p2","max_tasks":1,"wait_ms":30000}`).ok(http.StatusOK).object(); m["drain"] != true {
		t.Errorf("%v", m)
	}
}

const bounded = `//! A bounded action that is tried again.
workflow bounded
  input name: String
  outcome done: type String, route success

worker q
  action work(name: String) -> String
    timeout 1s, retry 1 every 1ms

step do
  name |> work |> route done
`

// actions 5.1: the bound of a remote attempt is the server's to keep.
func TestARemoteAttemptMeetsItsBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *bootstrap.Config) { c.EnginePollInterval = 20 * time.Millisecond })
	w.deploy(bounded)
	run := w.start("bounded", `{"name":"x"}`)
	me := w.register("i1", "", `{"name":"work"}`)
	first := w.one(me, "p1")
	if first.LeaseExpiresAt == "" {
		t.Errorf("%+v", first)
	}
	second := w.one(me, "p2")
	m := w.post(me+"/heartbeat", fmt.Sprintf(`{"tasks":[{"task_id":%q,"lease_token":%q}]}`, first.TaskID, first.LeaseToken)).ok(http.StatusOK).object()
	if s := m["tasks"].([]any)[0].(map[string]any); s["status"] != "cancel" || s["reason"] != "timeout" {
		t.Errorf("%v", s)
	}
	f := w.settle(me, second, "fail", `,"class":"retryable","message":"no luck","code":"luck","details":{"n":1}`).ok(http.StatusOK).object()
	if f["retry_at"] != nil || f["duplicate"] != false {
		t.Errorf("%v", f)
	}
	w.settle(me, second, "fail", `,"class":"retryable","message":"no luck","code":"luck","details":{"n":1}`).ok(http.StatusOK)
	w.settle(me, second, "fail", `,"class":"terminal","message":"no luck"`).refused(http.StatusConflict, "invalid_state", "AlreadySettled")
	if m := w.ended(run).object(); m["status"] != "Failed" {
		t.Errorf("%v", m)
	}
}

// actions 8.5: a result that does not fit fails the attempt for good, whoever repeats it.
func TestAResultThatDoesNotFitFailsTheAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(greeting)
	run := w.start("greeting", `{"name":"Ada"}`)
	me := w.register("i1", "", `{"name":"greet"}`)
	g := w.one(me, "p1")
	for range 2 {
		w.settle(me, g, "complete", `,"result":7`).refused(http.StatusUnprocessableEntity, "invalid_input", "ResultInvalid")
	}
	if m := w.ended(run).object(); m["status"] != "Failed" || !strings.Contains(fmt.Sprint(m["failure"]), "result_invalid") {
		t.Errorf("%v", m)
	}
}

// actions 8.6: what a worker holds when it is removed is lost at once.
func TestWhatARemovedWorkerHeldIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(greeting)
	run := w.start("greeting", `{"name":"Ada"}`)
	me := w.register("i1", "", `{"name":"greet"}`)
	g := w.one(me, "p1")
	if m := w.do(http.MethodDelete, me, "").ok(http.StatusOK).object(); fmt.Sprint(m["ended"]) != "1" {
		t.Errorf("%v", m)
	}
	w.do(http.MethodDelete, me, "").refused(http.StatusNotFound, "not_found", "WorkerNotFound")
	other := w.register("i2", "", `{"name":"greet"}`)
	second := w.one(other, "p1")
	if second.Attempt != 2 {
		t.Errorf("%+v", second)
	}
	refusal := w.settle(other, g, "complete", `,"result":"x"`).refused(http.StatusConflict, "invalid_state", "LeaseLost").object()
	if refusal["details"].(map[string]any)["reason"] != "worker_gone" {
		t.Errorf("%v", refusal)
	}
	w.settle(other, second, "complete", `,"result":"hello"`).ok(http.StatusOK)
	w.ended(run)
}

// actions 80, 8.1: workers of another subject, queue, node, namespace or action get nothing, and a token of another task is
// refused in the same words as none.
func TestAWorkerGetsAndSettlesItsOwnAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withToken, func(c *bootstrap.Config) { c.WorkersAllowedSubjects = []string{"ada", "eve"} })
	root, ada, bob, eve := as("root", "*", true), as("ada", "default,team", false), as("bob", "default", false), as("eve", "team", false)
	w.post("/api/v1/deployments", encode(t, map[string]string{"source": greeting}), root...).ok(http.StatusCreated)
	registration := func(ns, more string) string {
		return fmt.Sprintf(`{"instance_id":"i1","identity":"x","namespaces":[%q],"task_queue":"q","max_concurrency":2,"actions":[{"name":"greet"}]%s}`, ns, more)
	}
	w.post(workersPath, registration("default", ""), bob...).refused(http.StatusForbidden, "worker_denied", "WorkerNotAllowed")
	w.post(workersPath, registration("default", ""), eve...).refused(http.StatusForbidden, "namespace_denied", "NamespaceNotGranted")
	me := workersPath + "/" + w.post(workersPath, registration("default", ""), ada...).ok(http.StatusCreated).text("worker_id")
	foreign := workersPath + "/" + w.post(workersPath, registration("team", ""), eve...).ok(http.StatusCreated).text("worker_id")
	pinned := workersPath + "/" + w.post(workersPath, strings.Replace(registration("default", `,"node":"gpu","pinned_only":true`), "i1", "i2", 1), ada...).ok(http.StatusCreated).text("worker_id")
	other := workersPath + "/" + w.post(workersPath, strings.NewReplacer("i1", "i3", "greet", "wave").Replace(registration("default", "")), ada...).ok(http.StatusCreated).text("worker_id")
	w.post(runsOf, `{"workflow_type":"greeting","input":{"name":"Ada"}}`, root...).ok(http.StatusCreated)
	const poll = `{"poll_id":"p1","max_tasks":1,"wait_ms":0}`
	for path, caller := range map[string][]string{foreign: eve, pinned: ada, other: ada} {
		if m := w.post(path+"/poll", poll, caller...).ok(http.StatusOK).object(); len(m["tasks"].([]any)) != 0 {
			t.Errorf("%s got %v", path, m)
		}
	}
	w.post(me+"/poll", poll, eve...).refused(http.StatusNotFound, "not_found", "WorkerNotFound")
	var out struct{ Tasks []given }
	w.post(me+"/poll", strings.Replace(poll, `:0`, `:30000`, 1), ada...).ok(http.StatusOK).into(&out)
	g := out.Tasks[0]
	for _, c := range []struct {
		task, token string
		caller      []string
	}{{g.TaskID, "other", ada}, {"other", g.LeaseToken, ada}, {g.TaskID, g.LeaseToken, eve}} {
		body := fmt.Sprintf(`{"lease_token":%q,"result":"x"}`, c.token)
		w.post(me+"/tasks/"+c.task+"/complete", body, c.caller...).refused(http.StatusNotFound, "not_found", "WorkerTaskNotFound")
	}
	w.post(me+"/tasks/"+g.TaskID+"/complete", fmt.Sprintf(`{"lease_token":%q,"result":"x"}`, g.LeaseToken), ada...).ok(http.StatusOK)
	if strings.Contains(w.log.String(), g.LeaseToken) { // actions 79
		t.Error("the log holds a lease token")
	}
}

// actions 8.8, 79: a worker that asks for more than it may wait for is told to slow down; the server goes on.
func TestAHostileWorkerIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *bootstrap.Config) { c.LimitPayloadBytes = 4 << 10 })
	w.deploy(greeting)
	me := w.register("i1", "", `{"name":"greet"}`)
	var wait sync.WaitGroup
	statuses := make([]int, 200)
	for i := range statuses {
		wait.Go(func() {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+me+"/poll", strings.NewReader(fmt.Sprintf(`{"poll_id":"p%d","max_tasks":1000,"wait_ms":1000}`, i)))
			req.Header.Set("Content-Type", "application/json")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return
			}
			_ = res.Body.Close()
			statuses[i] = res.StatusCode
		})
	}
	wait.Wait()
	counts := map[int]int{}
	for _, s := range statuses {
		counts[s]++
	}
	if counts[http.StatusTooManyRequests] == 0 || counts[http.StatusOK] == 0 || counts[http.StatusOK]+counts[http.StatusTooManyRequests] != len(statuses) {
		t.Errorf("%v", counts)
	}
	run := w.start("greeting", `{"name":"Ada"}`)
	g := w.one(me, "p")
	w.settle(me, g, "complete", fmt.Sprintf(`,"result":%q`, strings.Repeat("x", 5<<10))).refused(http.StatusRequestEntityTooLarge, "invalid_input", "PayloadTooLarge")
	w.settle(me, g, "complete", "").refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	w.settle(me, g, "fail", `,"class":"lost","message":"x"`).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	w.settle(me, g, "fail", `,"class":"odd","message":"x"`).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	w.settle(me, g, "fail", `,"class":"terminal","message":"x","details":[1]`).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	for _, bad := range []string{
		`{"instance_id":"","identity":"x","namespaces":["default"],"task_queue":"q","max_concurrency":1,"actions":[{"name":"a"}]}`,
		`{"instance_id":"i","identity":"x","namespaces":[],"task_queue":"q","max_concurrency":1,"actions":[{"name":"a"}]}`,
		`{"instance_id":"i","identity":"x","namespaces":["default","default"],"task_queue":"q","max_concurrency":1,"actions":[{"name":"a"}]}`,
		`{"instance_id":"i","identity":"x","namespaces":["default"],"task_queue":"q","max_concurrency":0,"actions":[{"name":"a"}]}`,
		`{"instance_id":"i","identity":"x","namespaces":["default"],"task_queue":"q","max_concurrency":1,"actions":[]}`,
		`{"instance_id":"i","identity":"x","namespaces":["default"],"task_queue":"q","max_concurrency":1,"actions":[{"name":"a"},{"name":"a"}]}`,
		`{"instance_id":"i","identity":"x","namespaces":["default"],"task_queue":"q","max_concurrency":1,"actions":[{"name":"a","input_schema":{"type":"odd"}}]}`,
		`{"instance_id":"i","identity":"x","namespaces":["default"],"task_queue":"q","max_concurrency":1,"pinned_only":true,"actions":[{"name":"a"}]}`,
	} {
		w.post(workersPath, bad).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	}
	w.settle(me, g, "fail", fmt.Sprintf(`,"class":"terminal","message":%q`, strings.Repeat("long ", 4000))).ok(http.StatusOK)
	if m := w.ended(run).object(); m["status"] != "Failed" {
		t.Errorf("%v", m)
	}
}

// actions 1: an action without a body, or delegated, reaches its worker; one with a body is never given away.
func TestDelegatedBodiesGoToWorkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *bootstrap.Config) { c.ActionsDeclaredBodies = "delegate" })
	w.hands.say(func(context.Context, ports.Execution) action.Verdict {
		t.Error("the server ran a delegated body")
		return action.Completed{Result: json.RawMessage(`"x"`)}
	})
	w.deploy(hello)
	run := w.start("hello", `{"name":"Ada"}`)
	body := `{"instance_id":"i1","identity":"x","namespaces":["default"],"task_queue":"shell","max_concurrency":1,"actions":[{"name":"greet"}]}`
	me := workersPath + "/" + w.post(workersPath, body).ok(http.StatusCreated).text("worker_id")
	w.settle(me, w.one(me, "p1"), "complete", `,"result":"hello"`).ok(http.StatusOK)
	w.ended(run)
}

// actions 69: a worker that does not fit a routed version is refused by field.
func TestAContractThatDoesNotFitIsRefusedByField(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *bootstrap.Config) { c.WorkersRequireContracts = true })
	w.deploy(greeting)
	registration := func(actions string) string {
		return `{"instance_id":"i1","identity":"x","namespaces":["default"],"task_queue":"q","max_concurrency":1,"actions":[` + actions + `]}`
	}
	const output = `"output_schema":{"type":"string"}`
	for what, c := range map[string]struct{ actions, pointer, expected, got string }{
		"a property that is not accepted": {`{"name":"greet","input_schema":{"type":"object","properties":{}},` + output + `}`, "/properties/name", "string", "absent"},
		"another type":                    {`{"name":"greet","input_schema":{"type":"object","properties":{"name":{"type":"integer"}}},` + output + `}`, "/properties/name", "string", "integer"},
		"more than is sent":               {`{"name":"greet","input_schema":{"type":"object","required":["age"],"properties":{"name":{"type":"string"},"age":{"type":"integer"}}},` + output + `}`, "/properties/age", "absent", "required"},
		"an enum that is narrower":        {`{"name":"greet","input_schema":{"type":"object","properties":{"name":{"enum":["Ada"]}}},` + output + `}`, "/properties/name", "string", `enum "Ada"`},
		"a result that is not declared":   {`{"name":"greet","input_schema":{"type":"object","properties":{"name":{"type":"string"}}},"output_schema":{"type":["string","null"]}}`, "", "string", "null or string"},
		"no schema":                       {`{"name":"greet",` + output + `}`, "", "a schema", "<nil>"},
	} {
		refusal := w.post(workersPath, registration(c.actions)).refused(http.StatusConflict, "invalid_state", "ContractMismatch").object()
		f := refusal["details"].(map[string]any)["findings"].([]any)[0].(map[string]any)
		if f["pointer"] != c.pointer || f["expected"] != c.expected || fmt.Sprint(f["got"]) != c.got || f["remedy"] == "" || len(f["packages"].([]any)) != 1 {
			t.Errorf("%s: %v", what, f)
		}
	}
	good := `{"name":"greet","input_schema":{"type":"object","properties":{"name":{"type":["string","null"]},"more":{"type":"string"}}},` + output + `},{"name":"wave"}`
	m := w.post(workersPath, registration(good)).ok(http.StatusCreated).object()
	if fmt.Sprint(m["undeclared"]) != "[wave]" || len(m["ineligible"].([]any)) != 0 {
		t.Errorf("%v", m)
	}
}

// actions 8.2: a deploy that live workers do not fit says so, and its tasks are not given to them.
func TestADeployNamesTheWorkersThatDoNotFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(greeting)
	me := w.register("i1", "", `{"name":"greet","input_schema":{"type":"object","properties":{"name":{"type":"string"}}}}`)
	run := w.start("greeting", `{"name":"old"}`)
	r := w.deploy(strings.NewReplacer("name: String", "name: Int").Replace(greeting))
	if !strings.Contains(string(r.body), `gets no task of this version: the input of greet does not fit at \"/properties/name\": expected integer, got string`) {
		t.Errorf("%s", r.body)
	}
	fresh := w.start("greeting", `{"name":7}`)
	g := w.one(me, "p1") // the old run's
	if g.Input["name"] != "old" {
		t.Errorf("%+v", g)
	}
	if got := w.poll(me, "p2", 1, 0); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	w.until(fresh, func(m map[string]any) bool {
		u := m["unserved"].([]any)
		return len(u) == 1 && u[0].(map[string]any)["reason"] == "contract_ineligible"
	})
	w.settle(me, g, "complete", `,"result":"x"`).ok(http.StatusOK)
	w.ended(run)
}

// actions 72: what one namespace has in its queue delays the first task of another by one round at most.
func TestNamespacesTakeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(greeting)
	for range 200 {
		w.start("greeting", `{"name":"many"}`)
	}
	w.post("/api/v1/namespaces/team/runs", `{"workflow_type":"greeting","input":{"name":"one"}}`).ok(http.StatusCreated)
	me := workersPath + "/" + w.post(workersPath, `{"instance_id":"i","identity":"x","namespaces":["default","team"],"task_queue":"q","max_concurrency":4,"actions":[{"name":"greet"}]}`).
		ok(http.StatusCreated).text("worker_id")
	names := map[any]int{}
	for _, g := range w.poll(me, "p1", 4, 0) {
		names[g.Input["name"]]++
	}
	if names["one"] != 1 || names["many"] != 3 {
		t.Errorf("%v", names)
	}
}

// A server that begins finds what it runs itself behind any number of tasks that wait for workers.
func TestWorkForWorkersHidesNothingFromTheServer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	at := func(c *bootstrap.Config) {
		c.StoreBackend, c.StorePath, c.LimitMaxInFlight = "sqlite", home+"/store/aion.db", 1
	}
	if err := os.Mkdir(home+"/store", 0o700); err != nil {
		t.Fatal(err)
	}
	var runs []string
	t.Run("first", func(t *testing.T) { //nolint:paralleltest // the second server follows the first one
		w := newWorld(t, at)
		held := make(chan struct{}, 1)
		w.hands.say(func(ctx context.Context, _ ports.Execution) action.Verdict {
			select {
			case held <- struct{}{}:
			default:
			}
			<-ctx.Done()
			return action.Parked{}
		})
		w.deploy(greeting)
		w.deploy(hello)
		runs = append(runs, w.start("hello", `{"name":"first"}`))
		<-held
		for range 600 {
			w.start("greeting", `{"name":"many"}`)
		}
		for range 5 {
			runs = append(runs, w.start("hello", `{"name":"last"}`))
		}
	})
	t.Run("second", func(t *testing.T) { //nolint:paralleltest // see above
		w := newWorld(t, at)
		for _, run := range runs {
			w.ended(run)
		}
	})
}
