package e2e_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/test/postgres"
)

// engine 9 and 11: the server is killed around fires, and each time has exactly one record and one run.
func TestKillsAroundFiresStartEachRunOnce(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := serve(t, home)
	connect(t, s).deploy("hello.awl", fixture(t, "hello.awl"))
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 1))
	shown(t, aion(t, home, "schedule", "create", "tick", "hello", "--every", "1s", "--overlap", "allow", "--catch-up", "1h", "-i", "name=Ada", "-o", "json", "--server", s.url))
	for range 12 {
		// Near the second, where the fires are.
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second + time.Duration(chance.IntN(60)-5)*time.Millisecond)))
		s.kill()
		s = serve(t, home)
	}
	eventually(t, "fires", func() bool { return len(firesOf(t, home, s)) >= 12 })
	shown(t, aion(t, home, "schedule", "pause", "tick", "-o", "json", "--server", s.url))
	firesAndRunsAgree(t, home, s)
	if code := s.stop(); code != 0 {
		t.Errorf("the stop ends with %d:\n%s", code, s.log)
	}
}

type fire struct {
	NominalAt  time.Time `json:"nominal_at"`
	Action     string    `json:"action"`
	WorkflowID string    `json:"workflow_id"`
}

// firesOf are the recorded fires that were not skipped, newest first.
func firesOf(t *testing.T, home string, s *server) []fire {
	t.Helper()
	var fires []fire
	text, err := json.Marshal(shown(t, aion(t, home, "schedule", "fires", "tick", "--limit", "0", "-o", "json", "--server", s.url))["fires"])
	if err == nil {
		err = json.Unmarshal(text, &fires)
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(fires, func(f fire) bool { return f.Action == "skipped" })
}

// firesAndRunsAgree holds the fires of a schedule that is paused against its runs: one for each second, and no other.
func firesAndRunsAgree(t *testing.T, home string, s *server) {
	t.Helper()
	var fires []fire
	var runs []string
	eventually(t, "as many runs as fires", func() bool {
		fires, runs = firesOf(t, home, s), nil
		list, _ := shown(t, aion(t, home, "list", "--schedule", "tick", "--limit", "0", "-o", "json", "--server", s.url))["runs"].([]any)
		for _, r := range list {
			id, _ := r.(map[string]any)["workflow_id"].(string)
			runs = append(runs, id)
		}
		return len(runs) == len(fires)
	})
	var started []string
	for i, f := range fires {
		if f.Action != "fired" && f.Action != "caught_up" {
			t.Errorf("%v of %v", f, fires)
		}
		if i > 0 && fires[i-1].NominalAt.Sub(f.NominalAt) != time.Second {
			t.Errorf("%s comes before %s", f.NominalAt, fires[i-1].NominalAt)
		}
		started = append(started, f.WorkflowID)
	}
	slices.Sort(started)
	slices.Sort(runs)
	if diff := cmp.Diff(started, runs); diff != "" || len(slices.Compact(started)) != len(runs) {
		t.Errorf("fires and runs: %s", diff)
	}
}

// engine 8 and 9: of two servers on one Postgres each dies in turn, and each time has exactly one record and one run.
func TestServersOfOnePostgresStartEachRunOnce(t *testing.T) {
	t.Parallel()
	dsn, f, home := postgres.Database(t), newFleet(t), newHome(t)
	servers := []*server{f.serve(t, dsn), f.serve(t, dsn)}
	connect(t, servers[0]).deploy("hello.awl", fixture(t, "hello.awl"))
	shown(t, aion(t, home, "schedule", "create", "tick", "hello", "--every", "1s", "--overlap", "allow", "--catch-up", "1h", "-i", "name=Ada", "-o", "json",
		"--server", servers[0].url))
	for n := range 4 {
		eventually(t, "more fires", func() bool { return len(firesOf(t, home, servers[n%2])) > 3*(n+1) })
		servers[n%2].kill()
		servers[n%2] = f.serve(t, dsn)
	}
	shown(t, aion(t, home, "schedule", "pause", "tick", "-o", "json", "--server", servers[0].url))
	firesAndRunsAgree(t, home, servers[1])
}
