package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aion/test/postgres"
)

const greeting = `//! Greet one name by a remote worker.
workflow greeting
  input name: String
  outcome greeted: type String, route success

worker q
  action greet(name: String) -> String

step say
  name |> greet |> route greeted
`

// ask sends JSON to a server and gives the status and the answer.
func ask(t testing.TB, s *server, path, body string) (int, map[string]any) {
	t.Helper()
	client := http.Client{Timeout: 90 * time.Second}
	res, err := client.Post(s.url+"/api/v1"+path, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, nil // nobody listens
	}
	defer func() { _ = res.Body.Close() }()
	var m map[string]any
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil {
		return 0, nil // it ended in the middle
	}
	return res.StatusCode, m
}

// register registers a worker of queue q and gives its path.
func register(t testing.TB, s *server, instance string) string {
	t.Helper()
	status, m := ask(t, s, "/workers", fmt.Sprintf(`{"instance_id":%q,"identity":"host/%s","namespaces":["default"],"task_queue":"q","max_concurrency":8,"actions":[{"name":"greet"}]}`, instance, instance))
	if status != http.StatusCreated && status != http.StatusOK {
		t.Fatalf("register: %d %v", status, m)
	}
	return fmt.Sprint("/workers/", m["worker_id"])
}

// givenTask is what a poll gave.
type givenTask struct {
	TaskID         string `json:"task_id"`
	LeaseToken     string `json:"lease_token"`
	IdempotencyKey string `json:"idempotency_key"`
	Attempt        int    `json:"attempt"`
}

func poll(t testing.TB, s *server, worker, id string, most, waitMS int) (tasks []givenTask) {
	t.Helper()
	status, m := ask(t, s, worker+"/poll", fmt.Sprintf(`{"poll_id":%q,"max_tasks":%d,"wait_ms":%d}`, id, most, waitMS))
	if status != http.StatusOK {
		return nil
	}
	text, err := json.Marshal(m["tasks"])
	if err == nil {
		err = json.Unmarshal(text, &tasks)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tasks
}

func complete(t testing.TB, s *server, worker string, k givenTask) (int, map[string]any) {
	t.Helper()
	return ask(t, s, worker+"/tasks/"+k.TaskID+"/complete", fmt.Sprintf(`{"lease_token":%q,"result":"hello"}`, k.LeaseToken))
}

// actions 65: the three commands of the documentation, as they stand there.
func TestTheWorkerOfTheDocumentationServes(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operate.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, found := strings.Cut(string(text), "```sh\nW=$(")
	script, _, ends := strings.Cut(script, "```")
	if !found || !ends {
		t.Fatal("the documentation has no worker")
	}
	s := serve(t, newHome(t))
	c := connect(t, s)
	c.deploy("greeting.awl", greeting)
	id := c.start("greeting", map[string]any{"name": "Ada"})
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", "W=$("+script)
	cmd.Env = append(os.Environ(), "S="+s.url)
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte(`"recorded":true`)) {
		t.Fatalf("%v: %s", err, out)
	}
	eventually(t, "the run completes", func() bool { return c.describe(id)["status"] == "Completed" })
}

// actions 74, 5.5: a lease lives through kill -9 of the server: its result is taken by the next one, once, and nothing is lost.
func TestALeaseLivesThroughTheDeathOfTheServer(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	first := serve(t, home)
	c := connect(t, first)
	c.deploy("greeting.awl", greeting)
	id := c.start("greeting", map[string]any{"name": "Ada"})
	me := register(t, first, "i1")
	tasks := poll(t, first, me, "p1", 1, 30_000)
	if len(tasks) != 1 {
		t.Fatalf("%v", tasks)
	}
	first.kill()
	second := serve(t, home)
	for _, duplicate := range []bool{false, true} {
		if status, m := complete(t, second, me, tasks[0]); status != http.StatusOK || m["duplicate"] != duplicate {
			t.Errorf("%d %v", status, m)
		}
	}
	c = connect(t, second)
	eventually(t, "the run completes", func() bool { return c.describe(id)["status"] == "Completed" })
	history := fmt.Sprint(c.must("read_history", map[string]any{"namespace": "default", "workflow_id": id}))
	if n := strings.Count(history, "ActivityStarted"); n != 1 {
		t.Errorf("%d attempts began: %s", n, history)
	}
}

// engine 11: under load the server is killed again and again; every run completes, and each attempt is settled once.
func TestWorkersLoseNothingWhenTheServerIsKilled(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := serve(t, home)
	connect(t, s).deploy("greeting.awl", greeting)
	const runs = 60
	ids := make([]string, runs)
	for i := range ids {
		ids[i] = connectOnce(t, s, i)
	}
	var mu sync.Mutex
	settled := map[string]int{} // recorded verdicts that were no duplicates, by activity
	worker := func(s *server, n, most int) {
		me := register(t, s, fmt.Sprint("i", n))
		for i := range most {
			id := fmt.Sprintf("p%d-%d", n, i)
			tasks := poll(t, s, me, id, 4, 300)
			for _, k := range tasks {
				status, m := complete(t, s, me, k)
				if status == http.StatusOK && m["duplicate"] == false {
					mu.Lock()
					settled[k.IdempotencyKey]++
					mu.Unlock()
				}
			}
		}
	}
	for round := range 3 {
		var wait sync.WaitGroup
		for n := range 3 {
			wait.Go(func() { worker(s, n, 2+round) })
		}
		wait.Wait()
		held := poll(t, s, register(t, s, "holder"), fmt.Sprint("held", round), 2, 0) // in flight when the server dies
		s.kill()
		s = serve(t, home)
		for _, k := range held {
			if status, m := complete(t, s, "/workers/any", k); status != http.StatusOK {
				t.Errorf("a held task: %d %v", status, m)
			} else if m["duplicate"] == false {
				settled[k.IdempotencyKey]++
			}
		}
	}
	worker(s, 9, 30)
	c := connect(t, s)
	for _, id := range ids {
		eventually(t, "run "+id+" completes", func() bool { return c.describe(id)["status"] == "Completed" })
	}
	for key, n := range settled {
		if n != 1 {
			t.Errorf("%s was settled %d times", key, n)
		}
	}
}

func connectOnce(t testing.TB, s *server, n int) string {
	t.Helper()
	status, m := ask(t, s, "/namespaces/default/runs", fmt.Sprintf(`{"workflow_type":"greeting","input":{"name":"n%d"}}`, n))
	if status != http.StatusCreated {
		t.Fatalf("start: %d %v", status, m)
	}
	return fmt.Sprint(m["workflow_id"])
}

// actions 71: workers of two servers over one Postgres get each attempt once, and any server takes the verdict; one of them dies.
func TestWorkersOfTwoServersGetEachAttemptOnce(t *testing.T) {
	t.Parallel()
	dsn, f := postgres.Database(t), newFleet(t)
	servers := []*server{f.serve(t, dsn), f.serve(t, dsn)}
	connect(t, servers[0]).deploy("greeting.awl", greeting)
	const runs = 120
	ids := make([]string, runs)
	for i := range ids {
		ids[i] = connectOnce(t, servers[0], i)
	}
	var mu sync.Mutex
	leased, done := map[string]int{}, 0
	var wait sync.WaitGroup
	for n := range 6 {
		wait.Go(func() {
			me := register(t, servers[n%2], fmt.Sprint("i", n))
			for i := 0; ; i++ {
				tasks := poll(t, servers[n%2], me, fmt.Sprintf("p%d-%d", n, i), 4, 1000)
				for _, k := range tasks {
					mu.Lock()
					leased[k.TaskID]++
					mu.Unlock()
					if status, m := complete(t, servers[(n+i)%2], me, k); status != http.StatusOK || m["duplicate"] != false {
						t.Errorf("%d %v", status, m)
					}
				}
				mu.Lock()
				done += len(tasks)
				over := done >= runs || t.Failed()
				mu.Unlock()
				if over || i > 200 {
					return
				}
			}
		})
	}
	wait.Wait()
	for id, n := range leased {
		if n != 1 {
			t.Errorf("task %s was given %d times", id, n)
		}
	}
	c := connect(t, servers[1])
	for _, id := range ids {
		eventually(t, "run "+id+" completes", func() bool { return c.describe(id)["status"] == "Completed" })
	}
	// One server dies with a lease that it granted; the other one takes the result.
	last := connectOnce(t, servers[1], runs)
	me := register(t, servers[0], "last")
	var held []givenTask
	eventually(t, "the other server gives the task", func() bool { held = poll(t, servers[0], me, "last", 1, 1000); return len(held) == 1 })
	servers[0].kill()
	if status, m := complete(t, servers[1], me, held[0]); status != http.StatusOK {
		t.Errorf("%d %v", status, m)
	}
	eventually(t, "the last run completes", func() bool { return c.describe(last)["status"] == "Completed" })
}
