package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"aion/bootstrap"
)

// greeting leaves its action to a remote worker.
const greeting = `//! Greet one name by a remote worker.
workflow greeting
  input name: String
  outcome greeted: type String, route success

worker q
  action greet(name: String) -> String

step say
  name |> greet |> route greeted
`

const workersPath = "/api/v1/workers"

func onSQLite(c *bootstrap.Config) { c.StoreBackend = "sqlite" }

// register registers a worker of queue q for actions and gives its path.
func (w *world) register(instance, more, actions string) string {
	w.t.Helper()
	r := w.post(workersPath, fmt.Sprintf(`{"instance_id":%q,"identity":"host/%s","namespaces":["default"],"task_queue":"q","max_concurrency":4,"actions":[%s]%s}`,
		instance, instance, actions, more)).ok(http.StatusCreated)
	return workersPath + "/" + r.text("worker_id")
}

type given struct {
	TaskID         string `json:"task_id"`
	LeaseToken     string `json:"lease_token"`
	LeaseExpiresAt string `json:"lease_expires_at"`
	DeadlineAt     *string
	Attempt        int
	IdempotencyKey string `json:"idempotency_key"`
	Action         string
	Input          map[string]any
	Node           *string
}

// poll asks for tasks.
func (w *world) poll(worker, id string, most, waitMS int) (tasks []given) {
	w.t.Helper()
	var out struct{ Tasks []given }
	w.post(worker+"/poll", fmt.Sprintf(`{"poll_id":%q,"max_tasks":%d,"wait_ms":%d}`, id, most, waitMS)).ok(http.StatusOK).into(&out)
	return out.Tasks
}

// one is the one task of a poll.
func (w *world) one(worker, id string) given {
	w.t.Helper()
	tasks := w.poll(worker, id, 1, 30_000)
	if len(tasks) != 1 {
		w.t.Fatalf("%d tasks", len(tasks))
	}
	return tasks[0]
}

func (w *world) settle(worker string, g given, how, members string) reply {
	w.t.Helper()
	return w.post(worker+"/tasks/"+g.TaskID+"/"+how, fmt.Sprintf(`{"lease_token":%q%s}`, g.LeaseToken, members))
}

// actions 8: an action without a body waits for a worker, which registers, polls and completes.
func TestAWorkerServesAnActionWithoutABody(t *testing.T) {
	t.Parallel()
	for name, tune := range map[string]func(*bootstrap.Config){"memory": func(*bootstrap.Config) {}, "sqlite": onSQLite} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tune)
			w.deploy(greeting)
			run := w.start("greeting", `{"name":"Ada"}`)
			me := w.register("i1", "", `{"name":"greet"}`)
			g := w.one(me, "p1")
			if g.Action != "greet" || g.Attempt != 1 || g.Input["name"] != "Ada" || g.LeaseToken == "" || g.Node != nil {
				t.Errorf("%+v", g)
			}
			for _, duplicate := range []bool{false, true} { // engine 11: a doubled result gets the same acknowledgement
				if m := w.settle(me, g, "complete", `,"result":"hello Ada"`).ok(http.StatusOK).object(); m["recorded"] != true || m["duplicate"] != duplicate {
					t.Errorf("%v", m)
				}
			}
			w.settle(me, g, "complete", `,"result":"hello Bob"`).refused(http.StatusConflict, "invalid_state", "AlreadySettled")
			if m := w.ended(run).object(); fmt.Sprint(m["result"]) != "hello Ada" {
				t.Errorf("%v", m)
			}
			// A waiting poll is woken by the commit that lets a task wait.
			again := w.start("greeting", `{"name":"Bob"}`)
			w.settle(me, w.one(me, "p2"), "complete", `,"result":"hello Bob"`).ok(http.StatusOK)
			w.ended(again)
		})
	}
}

// actions 61, 8.5: events are stored once, shown like those of a command, and keep a begun task from being given back.
func TestAWorkerWritesTheTranscript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(greeting)
	run := w.start("greeting", `{"name":"Ada"}`)
	me := w.register("i1", "", `{"name":"greet"}`)
	g := w.one(me, "p1")
	events := `,"events":[{"worker_seq":1,"kind":"message","role":"tool","text":"one"},{"worker_seq":2,"kind":"progress","detail":{"done":1},"agent_role":"me"},
		{"worker_seq":3,"kind":"delta","message_id":"m","text":"piece"},{"worker_seq":4,"kind":"raw","source":"x","value":null}]`
	for _, want := range []string{"map[accepted:4 cancel:false duplicates:0 head_seq:3 next_worker_seq:5]", "map[accepted:1 cancel:false duplicates:3 head_seq:3 next_worker_seq:5]"} {
		if m := w.settle(me, g, "events", events).ok(http.StatusOK).object(); fmt.Sprint(m) != want {
			t.Errorf("%v, want %s", m, want)
		}
	}
	for _, bad := range []string{`{"worker_seq":9,"kind":"odd"}`, `{"worker_seq":0,"kind":"stop"}`, `{"kind":"stop"}`, `{"worker_seq":9,"kind":"message"}`, `{"worker_seq":9,"kind":"progress","detail":7}`} {
		w.settle(me, g, "events", `,"events":[`+bad+`]`).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	}
	w.settle(me, g, "release", "").refused(http.StatusConflict, "invalid_state", "AlreadyStarted")
	w.settle(me, g, "complete", `,"result":"hello"`).ok(http.StatusOK)
	w.settle(me, g, "events", events).refused(http.StatusConflict, "invalid_state", "LeaseLost")
	w.ended(run)
	id := w.get(run).ok(http.StatusOK).text("run_id")
	page := w.get(run + "/transcript?run_id=" + id + "&activity_id=0&attempt=1").ok(http.StatusOK).object()
	if list := page["events"].([]any); len(list) != 3 || list[0].(map[string]any)["text"] != "one" {
		t.Errorf("%v", page)
	}
}
