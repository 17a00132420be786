package httpapi_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"aion/test/contract"
)

// server 5: what names nothing is refused wherever it is sent, and nothing happens.
func TestAnEmptyNameIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	placeholder := regexp.MustCompile(`[{]\w+[}]`)
	values := map[string]string{
		"ns": "default", "wid": strings.TrimPrefix(run, runsOf+"/"), "activity_id": "0", "seq": "1", "path": "a.awl", "hash": strings.Repeat("0", 64),
		"type": "gate", "task_id": "t", "deployment_id": "d", "name": "n", "id": "s",
	}
	doc := contract.Load(t, w.get("/openapi.json").ok(http.StatusOK).body)
	for path, item := range doc.Paths.Map() {
		if item.Get == nil {
			continue
		}
		parameters := append(openapi3.Parameters{}, item.Parameters...)
		for _, p := range append(parameters, item.Get.Parameters...) {
			if p.Value.In != "query" || p.Value.Name == "cursor" {
				continue
			}
			at := "/api/v1" + placeholder.ReplaceAllStringFunc(path, func(s string) string { return values[strings.Trim(s, "{}")] })
			w.get(at+"?"+p.Value.Name+"=").refused(400, "invalid_input", "SchemaViolation")
		}
	}
	for path, bodies := range map[string][]string{
		run + "/signals": {`{"signal_name":"go","run_id":""}`, `{"signal_name":"go","signal_id":""}`, `{"signal_name":""}`},
		run + "/cancel":  {`{"run_id":""}`}, run + "/pause": {`{"run_id":""}`}, run + "/resume": {`{"run_id":""}`},
		run + "/queries": {`{"query_name":"state","run_id":""}`},
		runsOf: {
			`{"workflow_type":"gate","input":{"n":1},"workflow_id":""}`, `{"workflow_type":"gate","input":{"n":1},"package_id":""}`,
			`{"workflow_type":"gate","input":{"n":1},"signal":{"signal_name":""}}`,
		},
		"/api/v1/deployments": {`{"source":"x","name":""}`}, "/api/v1/awl/check": {`{"source":"x","path":""}`}, "/api/v1/namespaces": {`{"name":""}`},
	} {
		for _, body := range bodies {
			w.post(path, body).refused(400, "invalid_input", "SchemaViolation")
		}
	}
	if list := w.get(runsOf).object()["runs"].([]any); len(list) != 1 || list[0].(map[string]any)["status"] != "Running" {
		t.Errorf("refused requests changed %v", list)
	}
	w.post(run+"/cancel", `{"reason":""}`).ok(http.StatusOK)
}

// server 5: a page cannot be cut out of what is given whole.
func TestAnExportTakesNoPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shown(w)
	w.deploy(one)
	run := w.start("one", `{"n":1}`)
	w.ended(run)
	handle := "?activity_id=0&attempt=1&run_id=" + w.get(run).text("run_id")
	for _, c := range [][2]string{
		{run + "/history?limit=1", "application/x-ndjson"},
		{run + "/transcript" + handle + "&limit=1", "application/x-ndjson"},
		{run + "/transcript" + handle + "&limit=1", "text/plain"},
		{"/api/v1/audit?limit=1", "application/x-ndjson"},
		{"/api/v1/audit?cursor=AAAA", "application/x-ndjson"},
	} {
		w.get(c[0], "Accept", c[1]).refused(400, "invalid_input", "SchemaViolation")
	}
}

// server 1
func TestAHeaderIsSentOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	for name, values := range map[string][]string{
		"Content-Type": {"application/json", "text/plain"}, "Content-Encoding": {"identity", "gzip"}, "Idempotency-Key": {"a", "b"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+runsOf, strings.NewReader(`{"workflow_type":"gate","input":{"n":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header[name] = values
		res, err := w.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusBadRequest && res.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("%s sent twice was answered with %d", name, res.StatusCode)
		}
	}
	if list := w.get(runsOf).object()["runs"].([]any); len(list) > 0 {
		t.Errorf("refused requests started runs: %v", list)
	}
	w.post("/api/v1/tasks/t/cancel", `{"x":1}`).refused(400, "invalid_input", "UnknownMember")
	w.post("/api/v1/tasks/t/cancel", "").refused(404, "not_found", "TaskNotFound")
}

// server 1: a cache gives nobody what was answered to another caller, or in another form.
func TestWhatMayBeKeptSaysWhatItDependsOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	page := run + "/history?limit=1"
	for _, r := range []reply{w.get(page).ok(200), w.get(run+"/history", "Accept", "application/x-ndjson").ok(200)} {
		for _, name := range []string{"Accept", "Authorization", "X-Aion-Subject", "X-Aion-Namespaces"} {
			if !slices.Contains(strings.Split(strings.Join(r.header.Values("Vary"), ", "), ", "), name) {
				t.Errorf("Vary %q lacks %s", r.header.Values("Vary"), name)
			}
		}
	}
	if got := w.get(page).header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("Cache-Control %q", got)
	}
}
