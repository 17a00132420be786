package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"aion/adapters/cli"
)

// fakeServer answers what it is told, and remembers what it was asked.
type fakeServer struct {
	url string

	mu      sync.Mutex
	answers map[string]string // "METHOD path?query" → body; a body that begins with a number is a refusal of that status
	asked   []string
	headers []http.Header
}

func newFakeServer(t *testing.T, answers map[string]string) *fakeServer {
	t.Helper()
	f := &fakeServer{answers: answers}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.url = s.URL
	return f
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	what := r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/api/v1")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, strings.TrimSpace(what+" "+strings.TrimSpace(string(body))))
	f.headers = append(f.headers, r.Header)
	answer, ok := f.answers[what]
	if !ok {
		answer = "404 not_found RouteNotFound there is nothing at " + what
	}
	var status int
	var code, kind string
	if n, _ := fmt.Sscanf(answer, "%d %s %s", &status, &code, &kind); n == 3 {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("X-Request-Id", "req-1")
		w.WriteHeader(status)
		message := strings.SplitN(answer, " ", 4)[3]
		_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "error_type": kind, "message": message, "details": map[string]any{"current_content_hash": "there"}})
		return
	}
	if r.Method == http.MethodDelete && answer == "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, answer)
}

// desk runs commands as one user with one home.
type desk struct {
	t        *testing.T
	home     string
	env      map[string]string
	owner    string // of the local store; empty: nobody
	in       string
	terminal bool
	pager    func(context.Context) (io.Writer, func(), error)
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{t: t, home: t.TempDir(), env: map[string]string{}}
}

func (d *desk) run(args ...string) (out, errs string, code int) {
	d.t.Helper()
	var stdout, stderr strings.Builder
	code = cli.Run(d.t.Context(), cli.Program{
		In: strings.NewReader(d.in), Out: &stdout, Err: &stderr, InTerminal: d.terminal, OutTerminal: d.terminal, ErrTerminal: d.terminal, NoColor: true,
		Width: func() int { return 60 }, Backend: noServer{}, Pager: d.pager,
		Surroundings: func(cli.Open) (*cli.Surroundings, error) {
			return &cli.Surroundings{
				Home: d.home, User: "ada", Getenv: func(name string) string { return d.env[name] },
				Owner: func() (string, bool, error) { return d.owner, d.owner != "", nil },
			}, nil
		},
	}, args)
	return stdout.String(), stderr.String(), code
}

const (
	idOne = "019a3c1e-4f2a-7000-8000-000000000001"
	idTwo = "019a3c1e-4f2a-7000-8000-000000000002"
	hashA = "aaaaaaaabbbbbbbbccccccccddddddddaaaaaaaabbbbbbbbccccccccdddddddd"
)

const (
	oneRun  = `{"workflow_id":"` + idOne + `","workflow_type":"hello","status":"Running","started_at":"2026-01-02T03:04:05.000000Z","ended_at":null}`
	twoRuns = `{"namespace":"default","runs":[` + oneRun + `,{"workflow_id":"` + idTwo + `","workflow_type":"a\tb` + "\\u001b" + `[31m","status":"Completed",` +
		`"started_at":"2026-01-02T03:04:05.000000Z","ended_at":"2026-01-02T03:04:07.500000Z","labels":{"n":9007199254740993}}],"next_cursor":null}`
)

// server 23: each command asks what its route wants, and shows the answer; standard output holds only the result.
func TestCommandsAskTheirRoutes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  string
		asked []string
		say   string
		out   string
	}{
		{"list --status Running --status Paused --label a=b --order started_asc --query he", []string{
			"GET /namespaces/default/runs?label=a%3Db&limit=50&order=started_asc&q=he&status=Running&status=Paused",
		}, twoRuns, idOne},
		{"list --status Running --type hello --started-after 2026-01-01T00:00:00Z", []string{
			"GET /namespaces/default/runs?limit=50&started_after=2026-01-01T00%3A00%3A00Z&status=Running&workflow_type=hello",
		}, twoRuns, "WORKFLOW\tTYPE\tSTATUS\tSTEP\tSTARTED\tDURATION\n" + idOne + "\thello\tRunning\t\t2026-01-02T03:04:05.000000Z\t\n"},
		{
			"describe " + idOne + " --run " + idTwo,
			[]string{"GET /namespaces/default/runs/" + idOne + "?run_id=" + idTwo},
			`{"workflow_id":"` + idOne + `","status":"Failed","failure":{"code":"timeout","message":"two\nlines","activity_id":3}}`, "failure     timeout: two\n            lines\n",
		},
		{"-n team describe " + idOne, []string{"GET /namespaces/team/runs/" + idOne}, `{}`, "workflow"},
		{"history " + idOne + " --from 3 --type TimerFired --limit 2", []string{
			"GET /namespaces/default/runs/" + idOne + "/history?from_seq=3&limit=2&type=TimerFired",
		}, `{"events":[{"seq":3,"type":"TimerFired","recorded_at":"2026-01-02T03:04:05.000000Z","data":{"timer_id":1}}],"next_from_seq":4,"more":false}`, "3\t2026-01-02T03:04:05.000000Z\tTimerFired\t1\t\n"},
		{"history " + idOne + " --payloads cut --limit 1", []string{
			"GET /namespaces/default/runs/" + idOne + "/history?from_seq=1&limit=1&payloads=cut",
		}, `{"events":[],"next_from_seq":1,"more":false}`, ""},
		{"signal " + idOne + ` go --payload {"n":9007199254740993} --signal-id s`, []string{
			"POST /namespaces/default/runs/" + idOne + `/signals {"payload":{"n":9007199254740993},"signal_id":"s","signal_name":"go"}`,
		}, `{"signal_name":"go","workflow_id":"` + idOne + `","history_seq":7}`, "go delivered to " + idOne + " as event 7\n"},
		{"query " + idOne + " state", []string{"POST /namespaces/default/runs/" + idOne + `/queries {"query_name":"state"}`}, `{"result":{"n":9007199254740993}}`, "{\"n\":9007199254740993}\n"},
		{"cancel " + idOne + " --reason enough", []string{"POST /namespaces/default/runs/" + idOne + `/cancel {"reason":"enough"}`}, `{"workflow_id":"` + idOne + `"}`, "cancelled " + idOne + "\n"},
		{
			"cancel --filter workflow_type=hello --filter label=team=docs --yes",
			[]string{
				"GET /namespaces/default/runs?label=team%3Ddocs&limit=500&status=Running&status=Paused&workflow_type=hello",
				"POST /namespaces/default/runs/" + idOne + "/cancel {}", "POST /namespaces/default/runs/" + idTwo + "/cancel {}",
			},
			`{"runs":[{"workflow_id":"` + idOne + `"},{"workflow_id":"` + idTwo + `"}],"next_cursor":null,"workflow_id":"x"}`, "cancelled x\ncancelled x\n",
		},
		{"pause " + idOne, []string{"POST /namespaces/default/runs/" + idOne + "/pause {}"}, `{"workflow_id":"x","status":"Paused"}`, "x\tPaused\n"},
		{"reopen " + idOne + " --reason again", []string{"POST /namespaces/default/runs/" + idOne + `/reopen {"reason":"again"}`}, `{"workflow_id":"x","status":"Running"}`, "x\tRunning\n"},
		{"outcome " + idOne, []string{"GET /namespaces/default/runs/" + idOne + "/outcome"}, `{"status": "Completed", "result": 9007199254740993}`, "{\"status\":\"Completed\",\"result\":9007199254740993}\n"},
		{"start hello", []string{`POST /namespaces/default/runs {"input":{},"workflow_type":"hello"}`}, `{"workflow_id":"w","run_id":"r","status":"Running"}`, "w\tr\tRunning\n"},
		{"start hello --package " + hashA, []string{`POST /namespaces/default/runs {"input":{},"package_id":"` + hashA + `","workflow_type":"hello"}`}, `{"workflow_id":"w"}`, "w\t"},
		{"versions hello", []string{"GET /versions?limit=50&workflow_type=hello"}, `{"versions":[{"workflow_type":"hello","content_hash":"h","route_active":true,"open_runs":2}],"next_cursor":null}`, "hello\th\trouted\t\t\t2\n"},
		{"route hello " + hashA, []string{`POST /workflow-types/hello/route {"content_hash":"` + hashA + `"}`}, `{"workflow_type":"hello","content_hash":"n","previous":"o","route_changed":true}`, "hello: o -> n (running runs keep their version)\n"},
		{"route hello --previous", []string{"GET /workflow-types/hello", `POST /workflow-types/hello/route {"content_hash":"o"}`}, `{"workflow_type":"hello","content_hash":"o","previous":"o","route_changed":true}`, "hello: o -> o (running runs keep their version)\n"},
		{"unload hello " + hashA + " --yes", []string{"DELETE /workflow-types/hello/versions/" + hashA}, `{"workflow_type":"hello","content_hash":"h"}`, "unloaded h of hello\n"},
		{"documents list --prefix a/", []string{"GET /documents?limit=50&prefix=a%2F"}, `{"documents":[{"path":"a/b.awl","deployed":[{"workflow_type":"b","route_active":true}]}]}`, "a/b.awl\t\t\t\tb (routed)\n"},
		{"documents history a/b.awl", []string{"GET /revisions?limit=50&path=a%2Fb.awl"}, `{"revisions":[]}`, ""},
		{"namespaces list", []string{"GET /namespaces?limit=50"}, `{"namespaces":[{"name":"default","open_runs":1}]}`, "default\t1\t\t\t\n"},
		{"namespaces create team --max-in-flight 4 --retention 1h", []string{`POST /namespaces {"max_in_flight_activities":4,"name":"team","retention_ms":3600000}`}, `{"name":"team"}`, "team"},
		{"namespaces update team --max-in-flight 0 --retention default", []string{`PATCH /namespaces/team {"max_in_flight_activities":null,"retention_ms":null}`}, `{"name":"team"}`, "team"},
		{"namespaces describe team", []string{"GET /namespaces/team"}, `{"name":"team"}`, "team"},
		{"namespaces delete team", []string{"DELETE /namespaces/team"}, "", "deleted team\n"},
		{"schedule create tick hello --every 90s --overlap allow --catch-up 5m --jitter 1s --label a=b --paused", []string{
			`POST /namespaces/default/schedules {"catch_up_ms":300000,"input":{},"jitter_ms":1000,"labels":{"a":"b"},"overlap":"allow","paused":true,"schedule_id":"tick","spec":"every 90s","workflow_type":"hello"}`,
		}, `{"schedule_id":"tick","next_times":["t1","t2"]}`, "t2"},
		{"schedule create tick hello --cron @daily --time-zone Europe/Berlin", []string{
			`POST /namespaces/default/schedules {"input":{},"schedule_id":"tick","spec":"@daily","time_zone":"Europe/Berlin","workflow_type":"hello"}`,
		}, `{"schedule_id":"tick"}`, "tick"},
		{"schedule list --paused=false --type hello", []string{"GET /namespaces/default/schedules?limit=50&paused=false&workflow_type=hello"}, `{"schedules":[{"schedule_id":"tick","workflow_type":"hello","spec":"@daily","time_zone":"UTC","overlap":"skip","paused":null,"next_times":["2026-01-02T03:04:05.000000Z"]}]}`, "tick\thello\t@daily\tUTC\tskip\t2026-01-02T03:04:05.000000Z\n"},
		{"schedule describe tick", []string{"GET /namespaces/default/schedules/tick"}, `{"schedule_id":"tick","paused":{"by":"ada","since":"s","reason":"why"},"last_fires":[{"action":"missed"}],"running":[{"workflow_id":"w"}]}`, "by ada since s why"},
		{"schedule update tick --every 1h", []string{
			"GET /namespaces/default/schedules/tick",
			`PUT /namespaces/default/schedules/tick {"input":{"n":9007199254740993},"labels":{},"overlap":"skip","spec":"every 1h","workflow_type":"hello"}`,
		}, `{"schedule_id":"tick","workflow_type":"hello","input":{"n":9007199254740993},"spec":"@daily","overlap":"skip","labels":{},"description":null,"revision":"3"}`, "tick"},
		{"schedule pause tick --reason holiday", []string{`POST /namespaces/default/schedules/tick/pause {"reason":"holiday"}`}, `{"schedule_id":"tick"}`, "tick"},
		{"schedule resume tick", []string{"POST /namespaces/default/schedules/tick/resume {}"}, `{"schedule_id":"tick"}`, "tick"},
		{"schedule trigger tick --overlap allow", []string{`POST /namespaces/default/schedules/tick/trigger {"overlap":"allow"}`}, `{"workflow_id":"w","run_id":"r","status":"Running"}`, "w\tr\tRunning\n"},
		{"schedule backfill tick --from a --to b --limit 3", []string{`POST /namespaces/default/schedules/tick/backfill {"from":"a","limit":3,"to":"b"}`}, `{"planned":2}`, "planned 2\n"},
		{"schedule fires tick", []string{"GET /namespaces/default/schedules/tick/fires?limit=50"}, `{"fires":[{"action":"skipped","reason":"why"}]}`, "skipped\t\twhy\n"},
		{"schedule delete tick --yes", []string{"DELETE /namespaces/default/schedules/tick"}, "", "deleted tick\n"},
		{"queues list", []string{"GET /namespaces/default/queues?limit=50"}, `{"queues":[{"task_queue":"q","node":"gpu","actions":[{"queued":2,"oldest_queued_at":"2026-01-01T00:00:00Z","running":1},{"queued":1,"running":0}],"workers":["a","b"]}]}`, "q\tgpu\t3\t2026-01-01T00:00:00Z\t1\t2\n"},
		{"queues list --unserved", []string{"GET /namespaces/default/unserved?limit=50"}, `{"unserved":[{"task_queue":"q","activity_type":"greet","waiting":3,"oldest_at":"2026-01-01T00:00:00Z","reason":"no_worker","hint":"connect one"}]}`, "q\t\tgreet\t3\t2026-01-01T00:00:00Z\tno_worker\tconnect one\n"},
		{"workers list --queue q --state live", []string{"GET /namespaces/default/workers?limit=50&queue=q&state=live"}, `{"workers":[{"worker_id":"w","identity":"me","state":"live","task_queue":"q","held":1,"max_concurrency":4,"last_seen":"2026-01-01T00:00:00Z"}]}`, "w\tme\tlive\tq\t\t1\t4\t2026-01-01T00:00:00Z\n"},
		{"tasks list --status working --all", []string{"GET /tasks?limit=50&owner=all&status=working"}, `{"tasks":[{"task_id":"t","status":"working"}]}`, "t\tworking\t\t\t\t\n"},
		{"tasks describe t", []string{"GET /tasks/t"}, `{"task_id":"t"}`, "t"},
		{"tasks cancel t", []string{"POST /tasks/t/cancel"}, `{"task_id":"t","status":"cancelled"}`, "cancelled"},
		{"audit list --action run.start --by ada --in team", []string{"GET /audit?action=run.start&limit=500&namespace=team&subject=ada"}, `{"records":[{"at":"x","subject":"ada","action":"run.start"}]}`, "x\tada\t\trun.start\t\t\t\t\n"},
		{"audit verify", []string{"GET /audit/verify"}, `{"ok":true,"records":3,"chains":2,"first_bad":null}`, "3 records in 2 chains hold\n"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			answers := map[string]string{}
			for _, ask := range c.asked {
				words := strings.SplitN(ask, " ", 3)
				answers[words[0]+" "+words[1]] = c.say
			}
			f, d := newFakeServer(t, answers), newDesk(t)
			d.env["AION_SERVER"] = f.url
			out, errs, code := d.run(strings.Fields(c.args)...)
			if diff := cmp.Diff(c.asked, f.asked); diff != "" {
				t.Error(diff)
			}
			if code != 0 || !strings.Contains(out, c.out) || strings.Contains(errs, "error") {
				t.Errorf("exit %d\n%s%s", code, out, errs)
			}
		})
	}
}

// server 3.1.3 and 4: a table is for its reader, JSON is the server's, and numbers keep their digits in all of them.
func TestOneAnswerInEveryShape(t *testing.T) {
	t.Parallel()
	f := newFakeServer(t, map[string]string{
		"GET /namespaces/default/runs?limit=50": twoRuns,
		"GET /namespaces/none/runs?limit=50":    `{"namespace":"none","runs":[],"next_cursor":null}`,
	})
	d := newDesk(t)
	d.env["AION_SERVER"] = f.url
	if out, _, _ := d.run("list"); !strings.HasSuffix(out, idTwo+"\ta\\x09b\\x1b[31m\tCompleted\t\t2026-01-02T03:04:05.000000Z\t3s\n") {
		t.Errorf("a pipe: %q", out)
	}
	for _, args := range [][]string{{"list", "-o", "json"}, {"list", "--json"}} {
		if out, errs, code := d.run(args...); code != 0 || errs != "" || out != twoRuns+"\n" {
			t.Errorf("%v: %s%s", args, out, errs)
		}
	}
	if out, _, _ := d.run("list", "-o", "id"); out != idOne+"\n"+idTwo+"\n" {
		t.Errorf("ids: %q", out)
	}
	if out, _, _ := d.run("list", "-o", "jsonl"); !strings.HasPrefix(out, oneRun+"\n{") || strings.Count(out, "\n") != 2 {
		t.Errorf("lines: %q", out)
	}
	out, _, _ := d.run("list", "-o", "yaml")
	var read struct {
		Runs []struct {
			Labels map[string]int64 `yaml:"labels"`
			Type   string           `yaml:"workflow_type"`
		} `yaml:"runs"`
	}
	if err := yaml.Unmarshal([]byte(out), &read); err != nil || read.Runs[1].Labels["n"] != 9007199254740993 || read.Runs[1].Type != "a\tb\x1b[31m" {
		t.Errorf("%v: %+v\n%s", err, read, out)
	}
	if out, errs, code := d.run("list", "-n", "none"); out != "" || code != 0 || errs != "no such run in namespace none\n" {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	d.env["AION_OUTPUT"] = "id"
	if out, _, _ := d.run("list"); out != idOne+"\n"+idTwo+"\n" {
		t.Errorf("AION_OUTPUT: %q", out)
	}
	for _, args := range [][]string{{"list", "-o", "xml"}, {"list", "--json", "-o", "yaml"}, {"list", "--limit", "-1"}, {"list", "--timeout", "0"}} {
		if out, errs, code := d.run(args...); code != 2 || out != "" || !strings.Contains(errs, "error[usage]") {
			t.Errorf("%v: exit %d, %s%s", args, code, out, errs)
		}
	}
	d.env["AION_OUTPUT"], d.terminal = "", true
	out, _, _ = d.run("list")
	for _, line := range strings.Split(strings.TrimRight(out, "\n"), "\n") {
		if strings.ContainsAny(line, "\t\x1b") || len([]rune(line)) > 60 {
			t.Errorf("a terminal: %q", line)
		}
	}
	if !strings.Contains(out, idOne[:13]+"  hello") || strings.Contains(out, idOne) || !strings.Contains(out, " ago") {
		t.Errorf("a terminal: %s", out)
	}
}

// server 6: a list is walked by its cursors, up to the limit; a server whose cursor stands still is told from one with more.
func TestListsAreWalkedByPages(t *testing.T) {
	t.Parallel()
	f := newFakeServer(t, map[string]string{
		"GET /tasks?limit=500":            `{"tasks":[{"task_id":"a"},{"task_id":"b"}],"next_cursor":"c1"}`,
		"GET /tasks?cursor=c1&limit=500":  `{"tasks":[{"task_id":"c"}],"next_cursor":null}`,
		"GET /tasks?limit=3":              `{"tasks":[{"task_id":"a"},{"task_id":"b"}],"next_cursor":"c1"}`,
		"GET /tasks?cursor=c1&limit=1":    `{"tasks":[{"task_id":"c"}],"next_cursor":"c2"}`,
		"GET /tasks?limit=7":              `{"tasks":[{"task_id":"a"}],"next_cursor":"s"}`,
		"GET /tasks?cursor=s&limit=6":     `{"tasks":[{"task_id":"a"}],"next_cursor":"s"}`,
		"GET /tasks?limit=8":              `{"tasks":{}}`,
		"GET /tasks?limit=9":              `[]`,
		"GET /tasks?limit=10":             `{"tasks":[],"next_cursor":7}`,
		"GET /tasks?limit=500&status=bad": "400 invalid_input SchemaViolation status is one of working, completed",
	})
	d := newDesk(t)
	d.env["AION_SERVER"] = f.url
	for _, limit := range []string{"0", "3"} {
		if out, errs, code := d.run("tasks", "list", "--limit", limit, "-o", "id"); out != "a\nb\nc\n" || code != 0 {
			t.Errorf("%s: exit %d, %s%s", limit, code, out, errs)
		}
	}
	if out, _, _ := d.run("tasks", "list", "--limit", "0", "--json"); out != `{"tasks":[{"task_id":"a"},{"task_id":"b"},{"task_id":"c"}],"next_cursor":null}`+"\n" {
		t.Errorf("%s", out)
	}
	for _, limit := range []string{"7", "8", "9", "10"} {
		if _, errs, code := d.run("tasks", "list", "--limit", limit); code != 3 || !strings.Contains(errs, "NoAionServer") {
			t.Errorf("%s: exit %d, %s", limit, code, errs)
		}
	}
	if _, errs, code := d.run("tasks", "list", "--limit", "0", "--status", "bad"); code != 2 || errs != "error[invalid_input]: status is one of working, completed\nSchemaViolation · request req-1\n" {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// server 30: a unique prefix of eight characters names a run or a version; others are refused with what they may be.
func TestPrefixesNameOneThing(t *testing.T) {
	t.Parallel()
	f := newFakeServer(t, map[string]string{
		"GET /namespaces/default/runs?limit=500&q=019a3c1e":      twoRuns,
		"GET /namespaces/default/runs?limit=500&q=019a3c1e-ffff": `{"runs":[]}`,
		"GET /namespaces/default/runs/" + idOne:                  `{"workflow_id":"` + idOne + `"}`,
		"GET /versions?limit=500&workflow_type=hello":            `{"versions":[{"content_hash":"` + hashA + `"}]}`,
		"POST /workflow-types/hello/route":                       `{"workflow_type":"hello","content_hash":"n","previous":"o","route_changed":false}`,
		"GET /namespaces/default/runs/" + idOne + "0000":         "404 not_found WorkflowNotFound no such run",
	})
	d := newDesk(t)
	d.env["AION_SERVER"] = f.url
	for given, want := range map[string]string{
		"019a3c1":             "is too short; give at least 8 characters",
		"019A3C1E":            "\"019A3C1E\" is ambiguous\n  hint: it may be: " + idOne + ", " + idTwo,
		"019a3c1e-ffff":       "no run begins with",
		idOne + "0000":        "no such run",
		"../../../namespaces": "is no id of a run",
	} {
		if out, errs, code := d.run("describe", given); code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s%s", given, code, out, errs)
		}
	}
	if out, errs, code := d.run("describe", strings.ToUpper(idOne[:35]+"1"), "-o", "id"); code != 0 || out != idOne+"\n" {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	if out, errs, code := d.run("route", "hello", "AAAAAAAA"); code != 0 || out != "hello: n is routed already\n" {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

// server 24: what the request could change is 2, what could not be done is 3.
func TestRefusalsEndWithTheirCode(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]int{
		"400 invalid_input SchemaViolation x": 2, "401 unauthenticated MissingCredential x": 2, "403 deploy_denied DeployGrantMissing x": 2,
		"404 not_found TaskNotFound x": 2, "409 invalid_state WorkflowExists x": 2, "412 invalid_input RevisionMismatch x": 2, "422 query_failed QueryFailed x": 2,
		"428 invalid_input PreconditionRequired x": 2, "429 resource_exhausted RateLimited x": 3, "500 backend Internal x": 3,
		"503 unavailable ShuttingDown x": 3, "504 query_timeout QueryTimeout x": 3, "503 not_configured WorkspaceUnconfigured x": 3,
	} {
		f, d := newFakeServer(t, map[string]string{"GET /tasks/t": answer}), newDesk(t)
		d.env["AION_SERVER"] = f.url
		words := strings.Fields(answer)
		if out, errs, code := d.run("tasks", "describe", "t"); code != want || out != "" || errs != "error["+words[1]+"]: x\n"+words[2]+" · request req-1\n" {
			t.Errorf("%s: exit %d, %s%s", answer, code, out, errs)
		}
	}
	for status, want := range map[string]int{"Completed": 0, "Failed": 1, "Cancelled": 1, "TimedOut": 1} {
		f, d := newFakeServer(t, map[string]string{"GET /namespaces/default/runs/" + idOne + "/outcome": `{"status":"` + status + `"}`}), newDesk(t)
		d.env["AION_SERVER"] = f.url
		if out, errs, code := d.run("outcome", idOne); code != want || out != `{"status":"`+status+"\"}\n" {
			t.Errorf("%s: exit %d, %s%s", status, code, out, errs)
		}
	}
	d := newDesk(t)
	d.env["AION_SERVER"] = "http://127.0.0.1:1"
	if _, errs, code := d.run("list"); code != 3 || !strings.Contains(errs, "start a server with `aion server`") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// server 30: what destroys asks first; where nobody can be asked it needs --yes, and does nothing without it.
func TestDestructiveCommandsAskFirst(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"GET /documents/a.awl":                                   `{"content_hash":"` + hashA + `"}`,
		"DELETE /documents/a.awl":                                "",
		"DELETE /workflow-types/hello/versions/" + hashA:         `{"workflow_type":"hello","content_hash":"h"}`,
		"POST /namespaces/default/runs/" + idOne + "/cancel":     `{}`,
		"POST /namespaces/default/runs/" + idTwo + "/cancel":     `{}`,
		"POST /namespaces/default/runs/" + idOne + "/something/": `{}`,
	}
	for _, args := range [][]string{{"documents", "delete", "a.awl"}, {"unload", "hello", hashA}, {"cancel", idOne, idTwo}} {
		for name, c := range map[string]struct {
			in       string
			terminal bool
			yes      bool
			done     bool
		}{
			"a pipe": {}, "--yes": {yes: true, done: true}, "yes": {"y\n", true, false, true}, "no": {"n\n", true, false, false}, "nothing": {"", true, false, false},
		} {
			f, d := newFakeServer(t, answers), newDesk(t)
			d.env["AION_SERVER"], d.in, d.terminal = f.url, c.in, c.terminal
			command := args
			if c.yes {
				command = append(append([]string{}, args...), "--yes")
			}
			_, errs, code := d.run(command...)
			changed := strings.Contains(strings.Join(f.asked, "\n"), "DELETE") || strings.Contains(strings.Join(f.asked, "\n"), "cancel")
			if changed != c.done || (code == 0) != c.done || !c.done && code != 2 {
				t.Errorf("%v, %s: exit %d, %v\n%s", args, name, code, f.asked, errs)
			}
		}
	}
	f, d := newFakeServer(t, answers), newDesk(t)
	d.env["AION_SERVER"] = f.url
	if _, errs, code := d.run("documents", "delete", "a.awl", "--yes"); code != 0 || f.headers[1].Get("If-Match") != `"`+hashA+`"` {
		t.Errorf("exit %d, %v, %s", code, f.headers, errs)
	}
}

// server 14: a save overwrites what the document is, or what it is told; a conflict names both hashes.
func TestSaveKnowsWhatItOverwrites(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.awl")
	if err := os.WriteFile(file, []byte("text\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const here, gone = `{"content_hash":"` + hashA + `"}`, "404 not_found DocumentNotFound none"
	for _, c := range []struct {
		flags, there, match, none string
	}{
		{"", here, `"` + hashA + `"`, ""},
		{"", gone, "", "*"},
		{"--create", "", "", "*"},
		{"--force", here, "*", ""},
		{"--force", gone, "", "*"},
		{"--if-match " + hashA, "", `"` + hashA + `"`, ""},
	} {
		f, d := newFakeServer(t, map[string]string{"GET /documents/d/a.awl": c.there, "PUT /documents/d/a.awl": `{"path":"d/a.awl","content_hash":"h","created":true}`}), newDesk(t)
		d.env["AION_SERVER"] = f.url
		out, errs, code := d.run(append([]string{"documents", "save", "d/a.awl", file}, strings.Fields(c.flags)...)...)
		last := f.headers[len(f.headers)-1]
		if code != 0 || out != "created\td/a.awl\th\n" || last.Get("If-Match") != c.match || last.Get("If-None-Match") != c.none || last.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%+v: exit %d, %v\n%s%s", c, code, last, out, errs)
		}
		if asked := f.asked[len(f.asked)-1]; asked != "PUT /documents/d/a.awl text" {
			t.Errorf("%q", asked)
		}
	}
	f, d := newFakeServer(t, map[string]string{"PUT /documents/a.awl": "412 invalid_input RevisionMismatch does not match the saved document"}), newDesk(t)
	d.env["AION_SERVER"] = f.url
	_, errs, code := d.run("documents", "save", "a.awl", file, "--if-match", hashA)
	if code != 2 || !strings.Contains(errs, "expected  "+hashA+"\nthere is  there\n") {
		t.Errorf("exit %d, %s", code, errs)
	}
	for _, flags := range []string{"--create --force", "--if-match abc"} {
		if _, _, code := d.run(append([]string{"documents", "save", "a.awl", file}, strings.Fields(flags)...)...); code != 2 {
			t.Errorf("%s: exit %d", flags, code)
		}
	}
}

// server 26: -i is typed by what the deployed type declares.
func TestStartTypesItsInput(t *testing.T) {
	t.Parallel()
	f := newFakeServer(t, map[string]string{
		"GET /workflow-types/hello":     `{"contract":{"input_schema":{"type":"object","required":["n","tags"],"properties":{"n":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}}},"additionalProperties":false}}}`,
		"POST /namespaces/default/runs": `{"workflow_id":"w","run_id":"r","status":"Running"}`,
	})
	d := newDesk(t)
	d.env["AION_SERVER"] = f.url
	out, errs, code := d.run("start", "hello", "-i", "n=9007199254740993", "-i", "tags=a", "-i", "tags=b", "--label", "k=v", "--idempotency-key", "key-1")
	if code != 0 || f.asked[1] != `POST /namespaces/default/runs {"input":{"n":9007199254740993,"tags":["a","b"]},"labels":{"k":"v"},"workflow_type":"hello"}` || f.headers[1].Get("Idempotency-Key") != "key-1" {
		t.Errorf("exit %d, %v, %s%s", code, f.asked, out, errs)
	}
	for args, want := range map[string]string{"-i m=1": "did you mean", "-i n=x": "is not an integer", "--input {": "is not JSON", "--idempotency-key é": "visible ASCII"} {
		if _, errs, code := d.run(append([]string{"start", "hello"}, strings.Fields(args)...)...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
}

// server 23, 41: whatever a server says, a table moves no cursor and stays in its lines; JSON keeps it as it is.
func TestHostileAnswersAreShownEscaped(t *testing.T) {
	t.Parallel()
	const evil = `"\u001b[2J\u009b31m\rx\ny\u0000"`
	members := []string{
		"workflow_id", "run_id", "workflow_type", "status", "signal_name", "history_seq", "path", "content_hash", "name", "description", "task_id", "previous",
		"paused_reason", "outcome", "package_id", "document_path", "at", "subject", "action", "code", "seq", "type", "recorded_at", "started_at", "worker_id", "identity", "state", "task_queue", "node",
	}
	var b strings.Builder
	for _, name := range members {
		b.WriteString(`"` + name + `":` + evil + `,`)
	}
	flat := b.String()
	one := `{` + flat + `"failure":{"code":` + evil + `,"message":` + evil + `},"labels":{` + evil + `:` + evil + `},"open_steps":[{"step":` + evil + `}],"waiting_on":[{"name":` + evil + `}],
		"deployment":{` + flat + `"warnings":[` + evil + `]},"steps":[{"step":` + evil + `}],"data":{"step":` + evil + `,"message":` + evil + `},"route_changed":true,"next_cursor":null,"more":false,`
	whole := one + `"x":0}`
	for _, list := range []string{"runs", "documents", "tasks", "versions", "records", "namespaces", "revisions", "events", "workers", "queues"} {
		one += `"` + list + `":[` + whole + `],`
	}
	whole = one + `"y":0}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, whole) }))
	t.Cleanup(s.Close)
	for _, args := range []string{
		"list", "describe " + idOne, "history " + idOne, "signal " + idOne + " go", "cancel " + idOne, "pause " + idOne, "reopen " + idOne + " --reason x", "start hello",
		"deploy d.awl --document", "versions", "route hello " + hashA, "unload hello " + hashA + " --yes", "documents list", "documents history a.awl", "namespaces list",
		"namespaces describe x", "workers list", "queues list", "tasks list", "tasks describe t", "audit list", "list -o id",
	} {
		for _, terminal := range []bool{false, true} {
			d := newDesk(t)
			d.env["AION_SERVER"], d.terminal = s.URL, terminal
			out, errs, code := d.run(strings.Fields(args)...)
			if code != 0 || strings.ContainsAny(out+errs, "\x1b\x00\r") || strings.Contains(out+errs, "\u009b") || out == "" {
				t.Errorf("%s: exit %d\n%q\n%q", args, code, out, errs)
			}
		}
	}
	d := newDesk(t)
	d.env["AION_SERVER"] = s.URL
	if out := d.must("describe", idOne, "-o", "json"); !strings.Contains(out, evil) {
		t.Errorf("%s", out)
	}
}
