package e2e_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aion/test/postgres"
)

// fleet is the servers of one Postgres. Each has a home of its own; what they save and clone lies where all see it.
type fleet struct {
	t      testing.TB
	dir    string
	flags  []string
	member int
}

func newFleet(t testing.TB, flags ...string) *fleet {
	t.Helper()
	return &fleet{t: t, dir: t.TempDir(), flags: flags}
}

// serve starts one more server, which reaches the database by a DSN of its own.
func (f *fleet) serve(t *testing.T, dsn string, flags ...string) *server {
	t.Helper()
	return f.at(t, newHome(t), dsn, flags...)
}

// at starts a server in a home.
func (f *fleet) at(t *testing.T, home, dsn string, flags ...string) *server {
	t.Helper()
	return serve(t, home, append([]string{"--config", f.config(dsn)}, append(flags, f.flags...)...)...)
}

// config is the file of a member.
func (f *fleet) config(dsn string) string {
	f.t.Helper()
	f.member++
	name := filepath.Join(f.dir, fmt.Sprintf("member-%d.yaml", f.member))
	text := fmt.Sprintf("store: {backend: postgres, dsn: %q}\nauthoring: {workspace_dir: %q}\nactions: {workspace_root: %q}\n",
		dsn, filepath.Join(f.dir, "documents"), filepath.Join(f.dir, "clones"))
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return name
}

// through is the DSN by way of a link.
func through(t testing.TB, dsn string) (string, *postgres.Link) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	link := postgres.Proxy(t, u.Host)
	u.Host = link.Addr()
	return u.String(), link
}

// engine 8: what one server has acknowledged is there for the next call on another one: a deployment, a start, a signal, a
// cancel. The command that runs on one is stopped by a cancel on the other.
func TestServersOfOnePostgresAreOneServer(t *testing.T) {
	t.Parallel()
	dsn, f, dir := postgres.Database(t), newFleet(t), t.TempDir()
	first, second := f.serve(t, dsn), f.serve(t, dsn)
	a, b := connect(t, first), connect(t, second)
	a.deploy("stubborn.awl", document("stubborn", stubborn, ""))
	eventually(t, "the other server knows the type", func() bool {
		r, err := b.call("start_run", map[string]any{"namespace": "default", "workflow_type": "stubborn", "input": map[string]any{"dir": dir, "key": "x"}})
		return err == nil && r.refused == nil
	})
	id := a.start("stubborn", map[string]any{"dir": dir, "key": "k"})
	if d := b.describe(id); d["status"] != "Running" {
		t.Errorf("right after its start: %v", d)
	}
	begun(t, dir, 2)
	for i, c := range []*client{a, b} {
		other := []*client{b, a}[i]
		list := c.must("list_runs", map[string]any{"namespace": "default", "status": "Running"})["runs"].([]any)
		victim := list[0].(map[string]any)["workflow_id"].(string)
		c.must("cancel", map[string]any{"namespace": "default", "workflow_id": victim, "reason": "enough"})
		if d := other.describe(victim); d["status"] != "Cancelled" {
			t.Errorf("right after its cancel: %v", d)
		}
	}
	eventually(t, "both commands are gone", func() bool { return processes(t, dir) == 0 })
	for _, s := range []*server{first, second} {
		if code := s.stop(); code != 0 {
			t.Errorf("the stop ends with %d\n%s", code, s.log)
		}
	}
}

// span is a command that says in dir/log when it begins, is stopped or ends, and takes so many tenths of a second between.
func span(name, tenths string) string {
	script := `echo "begin $2" >> "$1/log"; trap "echo \"stopped $2\" >> \"$1/log\"; exit 1" TERM; ` +
		`i=0; while [ $i -lt ` + tenths + ` ] && [ ! -e "$1/go" ]; do sleep 0.1; i=$((i+1)); done; echo "end $2" >> "$1/log"; echo done`
	return document(name, script, "")
}

func logged(t testing.TB, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(strings.ReplaceAll(string(text), " ", "-"))
}

// The shortest claim that these grace times allow: ended after 21 s, given up by who is cut off after 15.
var shortClaims = []string{"--actions.kill_grace", "500ms", "--actions.kill_wait", "500ms", "--actions.claim_ttl", "21s"}

// actions 53: one server cut off: its attempts stop before the other takes over.
func TestServerThatIsCutOffStopsBeforeAnotherTakesOver(t *testing.T) {
	t.Parallel()
	dsn, f, dir := postgres.Database(t), newFleet(t, shortClaims...), t.TempDir()
	own, link := through(t, dsn)
	cut := f.serve(t, own)
	c := connect(t, cut)
	c.deploy("span.awl", span("span", "9000"))
	other := f.serve(t, dsn)
	id := c.start("span", map[string]any{"dir": dir, "key": "k"})
	eventually(t, "the command runs", func() bool { return len(logged(t, dir)) == 1 })
	o := connect(t, other)
	if started, _ := o.attempts(id); len(started) != 1 {
		t.Fatalf("attempts %v", started)
	}
	meet(t, cut, other)
	link.Cut()
	eventually(t, "the other server runs it", func() bool { return len(logged(t, dir)) >= 3 })
	want := []string{"begin-k", "stopped-k", "begin-k"}
	if got := logged(t, dir); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the order was %v\n%s", got, cut.log)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if d := o.untilEnded(id); d["status"] != "Completed" {
		t.Errorf("it ended as %v", d)
	}
	_, failed := o.attempts(id)
	if len(failed) != 1 || failed[0]["class"] != "lost" || failed[0]["code"] != "server_died" {
		t.Errorf("failed %v", failed)
	}
	link.Mend()
	eventually(t, "the server that was cut off sees it", func() bool {
		r, err := c.call("describe_run", map[string]any{"namespace": "default", "workflow_id": id})
		return err == nil && r.refused == nil && r.data["status"] == "Completed"
	})
}

// actions 53: one server stands still, as when its host stops it or sleeps. Its command stops before the other server takes it over,
// and when it goes on it says nothing of that attempt.
func TestServerThatStandsStillRunsNothingBesideAnother(t *testing.T) {
	t.Parallel()
	dsn, f, dir := postgres.Database(t), newFleet(t, shortClaims...), t.TempDir()
	still, other := f.serve(t, dsn), f.serve(t, dsn)
	c, o := connect(t, still), connect(t, other)
	c.deploy("span.awl", span("span", "9000"))
	id := c.start("span", map[string]any{"dir": dir, "key": "k"})
	eventually(t, "the command runs", func() bool { return len(logged(t, dir)) == 1 })
	meet(t, still, other)
	if err := still.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = still.cmd.Process.Signal(syscall.SIGCONT) }()
	eventually(t, "the other server runs it", func() bool { return len(logged(t, dir)) >= 3 })
	if got := strings.Join(logged(t, dir), " "); got != "begin-k stopped-k begin-k" {
		t.Errorf("the order was %s\n%s", got, still.log)
	}
	if err := still.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if d := o.untilEnded(id); d["status"] != "Completed" {
		t.Errorf("it ended as %v", d)
	}
	if started, failed := o.attempts(id); len(started) != 2 || len(failed) != 1 || failed[0]["code"] != "server_died" {
		t.Errorf("started %v, failed %v", started, failed)
	}
	eventually(t, "the server that stood still sees it", func() bool { return c.describe(id)["status"] == "Completed" })
}

// actions 53: two servers, store away for one and a half claims: no second execution. The verdict is kept meanwhile.
func TestStoreThatIsAwayForAllCausesNoSecondExecution(t *testing.T) {
	t.Parallel()
	pg, f, dir := postgres.Start(t), newFleet(t, shortClaims...), t.TempDir()
	first, second := f.serve(t, pg.DSN()), f.serve(t, pg.DSN())
	a, b := connect(t, first), connect(t, second)
	a.deploy("span.awl", span("span", "100")) // ends 10 s after it began, long before who is cut off would stop it
	id := a.start("span", map[string]any{"dir": dir, "key": "k"})
	eventually(t, "the command runs", func() bool { return len(logged(t, dir)) == 1 })
	meet(t, first, second)
	pg.Freeze()
	began := time.Now()
	refused, err := b.call("start_run", map[string]any{"namespace": "default", "workflow_type": "span", "input": map[string]any{"dir": dir, "key": "late"}})
	if err != nil || refused.refused["code"] != "unavailable" {
		t.Errorf("a start while the store is away: %v, %v", refused, err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the refusal took %s", took)
	}
	eventually(t, "both are unready", func() bool {
		return ready(first) == http.StatusServiceUnavailable && ready(second) == http.StatusServiceUnavailable
	})
	time.Sleep(time.Until(began.Add(32 * time.Second))) // so long it is away
	pg.Thaw()
	eventually(t, "the run ends", func() bool {
		r, err := b.call("describe_run", map[string]any{"namespace": "default", "workflow_id": id})
		return err == nil && r.refused == nil && r.data["status"] == "Completed"
	})
	started, failed := b.attempts(id)
	if got := logged(t, dir); strings.Join(got, " ") != "begin-k end-k" || len(started) != 1 || len(failed) != 0 {
		t.Errorf("executed %v, started %v, failed %v", got, started, failed)
	}
	eventually(t, "both are ready again", func() bool { return ready(first) == http.StatusOK && ready(second) == http.StatusOK })
}

func ready(s *server) int {
	code, _ := readiness(s)
	return code
}

// readiness is what a server answers the probe; 0: nothing.
func readiness(s *server) (code int, text string) {
	res, err := http.Get(s.url + "/health/ready")
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, ""
	}
	return res.StatusCode, string(body)
}

// meet waits until each of some servers knows of the others.
func meet(t testing.TB, servers ...*server) {
	t.Helper()
	for _, s := range servers {
		for _, other := range servers {
			address := strings.TrimPrefix(other.url, "http://")
			eventually(t, s.url+" knows "+address, func() bool {
				code, text := readiness(s)
				return code == http.StatusOK && strings.Contains(text, address)
			})
		}
	}
}

// engine 8, actions 50: what a drain parks is taken up by another server under its own number, within a second or so.
func TestDrainHandsOver(t *testing.T) {
	t.Parallel()
	dsn, f, dir := postgres.Database(t), newFleet(t, "--drain.timeout", "1s"), t.TempDir()
	first, second := f.serve(t, dsn), f.serve(t, dsn)
	a, b := connect(t, first), connect(t, second)
	a.deploy("span.awl", span("span", "9000"))
	id := a.start("span", map[string]any{"dir": dir, "key": "k"})
	eventually(t, "the command runs", func() bool { return len(logged(t, dir)) == 1 })
	if code := first.stop(); code != 0 {
		t.Errorf("the stop ends with %d\n%s", code, first.log)
	}
	eventually(t, "the other server runs it", func() bool { return len(logged(t, dir)) == 3 })
	if got := logged(t, dir); strings.Join(got, " ") != "begin-k stopped-k begin-k" {
		t.Errorf("the order was %v", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if d := b.untilEnded(id); d["status"] != "Completed" {
		t.Errorf("it ended as %v", d)
	}
	if _, failed := b.attempts(id); len(failed) != 0 {
		t.Errorf("failed %v", failed)
	}
}

// engine 20: two servers, one Postgres; one is killed at random. Every acknowledged start ends as it should, the histories
// replay, and no effect is there without its attempt.
func TestOneOfTwoServersIsKilledAtRandom(t *testing.T) {
	t.Parallel()
	runs := 400
	if os.Getenv("AION_SOAK") != "" {
		runs = 10_000
	}
	dsn, dir := postgres.Database(t), t.TempDir()
	f := newFleet(t, append([]string{"--engine.lost_attempts", "1000"}, shortClaims...)...)
	homes := []string{newHome(t), newHome(t)}
	servers := []*server{f.at(t, homes[0], dsn), f.at(t, homes[1], dsn)}
	connect(t, servers[0]).deploy("marked.awl", marked)
	started, tries := map[string]string{}, 0
	eventually(t, "the other server knows the type", func() bool {
		tries++
		key := fmt.Sprintf("first%d", tries)
		if id := tryStart(servers[1], dir, key); id != "" {
			started[id] = key
		}
		return len(started) > 0
	})
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 1))
	for i := 0; i < runs; {
		for range 1 + chance.IntN(40) { // one is killed in the midst of what the last ones do
			key := fmt.Sprintf("r%d", i)
			if id := tryStart(servers[chance.IntN(2)], dir, key); id != "" {
				started[id] = key
			}
			i++
		}
		victim := chance.IntN(2)
		servers[victim].kill()
		servers[victim] = f.at(t, homes[victim], dsn)
	}
	if len(started) < runs/2 {
		t.Fatalf("only %d of %d starts were acknowledged", len(started), runs)
	}
	c := connect(t, servers[chance.IntN(2)])
	lost := 0
	for id, key := range started {
		d := c.untilEnded(id)
		if d["status"] != "Completed" {
			t.Errorf("run %s ended as %v: %v %v", id, d["status"], d["paused_reason"], d["failure"])
			continue
		}
		events := c.history(id)
		lost += judgeMarked(t, dir, id, key, events)
	}
	t.Logf("%d runs, %d attempts lost", len(started), lost)
}

// A process that joins for one command leaves the store to the others.
func TestRunJoinsTheServersOfAPostgres(t *testing.T) {
	t.Parallel()
	dsn, f := postgres.Database(t), newFleet(t)
	s := f.serve(t, dsn)
	home := newHome(t)
	hello := filepath.Join("..", "..", "examples", "hello.awl")
	absolute, err := filepath.Abs(hello)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		e := aion(t, home, "run", absolute, "-i", "name=Ada", "--config", f.config(dsn))
		if e.code != 0 {
			t.Fatalf("exit %d: %s", e.code, e.stderr)
		}
		id := e.outcome(t)["workflow_id"].(string)
		if d := connect(t, s).describe(id); d["status"] != "Completed" {
			t.Errorf("the server sees %v", d)
		}
	}
}
