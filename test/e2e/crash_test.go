package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// marked appends a line to a file of its own per step, so that effects can be counted.
const marked = `//! Three short steps with an effect each.
workflow marked
  input dir: String
  input key: String
  outcome done: type Done, route success

type Done { last: String }

worker shell
  action mark(dir: String, file: String) -> Nil
    run "sh -c 'echo x >> \"$1/$2\"; sleep 0.01' mark {{dir}} {{file}}"

step first
  mark(dir: dir, file: key + ".1")

step second
  mark(dir: dir, file: key + ".2")

step third
  mark(dir: dir, file: key + ".3")
  route done(last: key)
`

// killsPerRun: a run starts before every fourth kill.
const killsPerRun = 4

// 200 kills (AION_SOAK: 5,000) at random moments over a quarter as many runs: every acknowledged start ends as it should, no event is lost, the recorded
// history replays (a difference would pause the run), and effects are as many as recorded attempts or fewer.
func TestRandomKillsLoseNothing(t *testing.T) {
	t.Parallel()
	kills := 200
	if os.Getenv("AION_SOAK") != "" {
		kills = 5000
	}
	home, dir := newHome(t), t.TempDir()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 1))
	// The limit of lost attempts in a row is for commands that kill their server; here the kills come from outside.
	patient := []string{"--engine.lost_attempts", "1000"}
	s := serve(t, home, patient...)
	connect(t, s).deploy("marked.awl", marked)
	started := map[string]string{} // workflow id → key
	for i := range kills {
		if i%killsPerRun == 0 {
			key := fmt.Sprintf("r%d", i)
			if id := tryStart(s, dir, key); id != "" {
				started[id] = key
			}
		}
		time.Sleep(time.Duration(chance.IntN(40)) * time.Millisecond)
		s.kill()
		s = serve(t, home, patient...)
	}
	c := connect(t, s)
	if len(started) == 0 {
		t.Fatal("no start was acknowledged")
	}
	for id, key := range started {
		d := c.untilEnded(id)
		if d["status"] != "Completed" {
			t.Errorf("run %s ended as %v: %v %v", id, d["status"], d["paused_reason"], d["failure"])
			continue
		}
		events := c.history(id)
		judgeMarked(t, dir, id, key, events)
	}
	t.Logf("%d acknowledged starts survived %d kills", len(started), kills)
	if code := s.stop(); code != 0 {
		t.Errorf("the clean stop ends with %d:\n%s", code, s.log)
	}
	if _, err := os.Stat(filepath.Join(home, "aion.db")); err != nil {
		t.Error(err)
	}
}

// judgeMarked holds the history of a run against the effects of its three steps, and answers how many attempts were lost.
func judgeMarked(t *testing.T, dir, id, key string, events []map[string]any) (lost int) {
	t.Helper()
	attempts := map[float64]int{}
	for n, e := range events {
		if e["seq"] != float64(n+1) {
			t.Errorf("run %s: event %d has seq %v", id, n+1, e["seq"])
		}
		switch e["type"] {
		case "ActivityStarted":
			attempts[e["data"].(map[string]any)["activity_id"].(float64)]++
		case "ActivityFailed":
			lost++
		}
	}
	for step := range 3 {
		ran := lines(t, filepath.Join(dir, fmt.Sprintf("%s.%d", key, step+1)))
		if ran < 1 || ran > attempts[float64(step)] {
			t.Errorf("run %s: step %d had %d effects in %d attempts", id, step+1, ran, attempts[float64(step)])
		}
	}
	return lost
}

// tryStart answers the id of an acknowledged start, else nothing.
func tryStart(s *server, dir, key string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "aion-e2e", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: s.url + "/mcp", MaxRetries: -1}, nil)
	if err != nil {
		return ""
	}
	defer session.Close()
	r, err := (&client{t: s.t, s: session}).call("start_run", map[string]any{
		"namespace": "default", "workflow_type": "marked",
		"input": map[string]any{"dir": dir, "key": key},
	})
	if err != nil || r.data == nil {
		return ""
	}
	return r.data["workflow_id"].(string)
}
