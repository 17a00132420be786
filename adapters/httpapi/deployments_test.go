package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// holding waits for a signal that its tests never send.
const holding = `//! Wait for a word.
workflow holding
  outcome done: type String, route success
  signal word: String

step hold
  wait word -> w
  route done(w)
`

// server 15: deploy, deploy again, route back, and unload what is routed, what is used and what is free.
func TestVersionsComeAreRoutedAndGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.deploy(holding)
	one := first.object()["deployment"].(map[string]any)
	if one["freshly_loaded"] != true || one["route_changed"] != true || first.header.Get("Location") != fmt.Sprint("/api/v1/deployments/", one["deployment_id"]) {
		t.Errorf("%v %s", first.header, first.body)
	}
	again := w.post("/api/v1/deployments", encode(t, map[string]string{"source": holding})).ok(http.StatusOK).object()["deployment"].(map[string]any)
	if again["freshly_loaded"] != false || again["route_changed"] != false || again["deployment_id"] != one["deployment_id"] {
		t.Errorf("%v", again)
	}
	run := w.start("holding", "{}")
	two := w.deploy(holding + "// two\n").object()["deployment"].(map[string]any)
	hash := func(d map[string]any) string { return fmt.Sprint(d["content_hash"]) }
	of := "/api/v1/workflow-types/holding"
	if got := w.get(of).ok(http.StatusOK).object(); got["package_id"] != two["content_hash"] || fmt.Sprint(got["versions"]) != "2" || fmt.Sprint(got["open_runs"]) != "1" {
		t.Errorf("%v", got)
	}
	pinned := w.get(of + "/versions/" + hash(one)).ok(http.StatusOK).object()
	if fmt.Sprint(pinned["pinned_by"]) != fmt.Sprintf("map[count:1 workflow_ids:[%s]]", strings.TrimPrefix(run, runsOf+"/")) || pinned["source"] != holding ||
		pinned["route_active"] != false || pinned["contract"] == nil {
		t.Errorf("%v", pinned)
	}
	w.do(http.MethodDelete, of+"/versions/"+hash(one), "").refused(http.StatusConflict, "version_pinned", "VersionPinned")
	w.do(http.MethodDelete, of+"/versions/"+hash(two), "").refused(http.StatusConflict, "version_pinned", "RouteActive")
	route := func(to map[string]any) map[string]any {
		return w.post(of+"/route", encode(t, map[string]string{"content_hash": hash(to)})).ok(http.StatusOK).object()
	}
	if got := route(one); got["previous"] != hash(two) || got["route_changed"] != true {
		t.Errorf("%v", got)
	}
	if got := route(one); got["previous"] != hash(one) || got["route_changed"] != false {
		t.Errorf("%v", got)
	}
	if back := w.post("/api/v1/deployments", encode(t, map[string]string{"source": holding + "// two\n"})).ok(http.StatusCreated).object()["deployment"].(map[string]any); back["freshly_loaded"] != false ||
		back["route_changed"] != true {
		t.Errorf("a deploy that only moves the route: %v", back)
	}
	route(one)
	if got := w.do(http.MethodDelete, of+"/versions/"+hash(two), "").ok(http.StatusOK).object(); got["unloaded"] != true {
		t.Errorf("%v", got)
	}
	w.get(of+"/versions/"+hash(two)).refused(http.StatusNotFound, "not_found", "VersionNotFound")
	w.get(of+"/versions/"+hash(two)+"/graph").refused(http.StatusNotFound, "not_found", "VersionNotFound")
	w.do(http.MethodDelete, of+"/versions/"+hash(two), "").refused(http.StatusNotFound, "not_found", "VersionNotFound")
	w.post(of+"/route", encode(t, map[string]string{"content_hash": hash(two)})).refused(http.StatusNotFound, "not_found", "VersionNotFound")
	if drawn := w.get(of + "/versions/" + hash(one) + "/graph").ok(http.StatusOK).object(); drawn["complete"] != true {
		t.Errorf("%v", drawn)
	}
	// server 47: each change has exactly one record.
	var log struct{ Records []struct{ Action string } }
	w.get("/api/v1/audit?target=holding").into(&log)
	var actions []string
	for _, r := range log.Records {
		actions = append(actions, r.Action)
	}
	want := []string{"deploy.unload", "deploy.unload", "deploy.route", "deploy.route", "deploy.route", "deploy.unload", "deploy.unload", "deploy.route"}
	if !slices.Equal(actions, want) { // refused ones too
		t.Errorf("%v, want %v", actions, want)
	}
}

func TestDeployTakesTheRevisionThatWasRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := func(path, hash string) string {
		return encode(t, map[string]string{"path": path, "content_hash": hash})
	}
	hash := w.save("team/hello.awl", hello).hash()
	w.post("/api/v1/deployments", body("team/other.awl", hash)).refused(http.StatusNotFound, "not_found", "DocumentNotFound")
	w.post("/api/v1/deployments", body("team/hello.awl", strings.Repeat("0", 64))).refused(http.StatusConflict, "invalid_input", "RevisionMismatch")
	got := w.post("/api/v1/deployments", body("team/hello.awl", hash)).ok(http.StatusCreated).object()
	if d := got["deployment"].(map[string]any); d["document_path"] != "team/hello.awl" || d["package_id"] != hash || d["content_hash"] != hash || len(got["steps"].([]any)) != 4 {
		t.Errorf("%v", got)
	}
	if d := w.get(docs + "team/hello.awl").object()["deployed"]; fmt.Sprint(d) != "[map[route_active:true workflow_type:hello]]" {
		t.Errorf("%v", d)
	}
	wrong := w.save("wrong.awl", strings.Replace(hello, "String", "Strin", 1)).hash()
	refused := w.post("/api/v1/deployments", body("wrong.awl", wrong)).refused(http.StatusUnprocessableEntity, "invalid_input", "CheckRefused")
	if details := refused.object()["details"].(map[string]any); len(details["diagnostics"].([]any)) == 0 || !strings.Contains(refused.text("message"), "3:") {
		t.Errorf("%s", refused.body)
	}
	child := "//! Calls hello wrongly.\nworkflow parent\n  outcome done: type String, route success\n\nchild hello(n: Int) -> String\n\n" +
		"step one\n  hello(n: 1) -> x\n  route done(x)\n"
	w.post("/api/v1/deployments", encode(t, map[string]string{"source": child})).refused(http.StatusUnprocessableEntity, "invalid_input", "CompileRefused")
	for _, bad := range []string{`{}`, `{"path":"a.awl"}`, `{"source":"x","path":"a.awl","content_hash":"1"}`, `{"path":"","content_hash":"1"}`} {
		w.post("/api/v1/deployments", bad).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	}
}

func TestDeploymentsTypesAndVersionsAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 5 {
		w.deploy(strings.Replace(hello, "workflow hello", fmt.Sprintf("workflow w%d", n%2), 1) + fmt.Sprintf("// %d\n", n))
	}
	walk := func(path, list, member string) (seen []string) {
		for cursor := ""; ; {
			page := w.get(path + cursor).ok(http.StatusOK).object()
			for _, entry := range page[list].([]any) {
				seen = append(seen, fmt.Sprint(entry.(map[string]any)[member]))
			}
			next, more := page["next_cursor"].(string)
			if !more {
				return seen
			}
			cursor = "&cursor=" + next
		}
	}
	if got := walk("/api/v1/deployments?limit=2", "deployments", "workflow_type"); !slices.Equal(got, []string{"w0", "w1", "w0", "w1", "w0"}) {
		t.Errorf("deployments %v", got)
	}
	if got := walk("/api/v1/deployments?limit=2&workflow_type=w1", "deployments", "workflow_type"); !slices.Equal(got, []string{"w1", "w1"}) {
		t.Errorf("deployments of one type %v", got)
	}
	if got := walk("/api/v1/versions?limit=2", "versions", "workflow_type"); !slices.Equal(got, []string{"w0", "w0", "w0", "w1", "w1"}) {
		t.Errorf("versions %v", got)
	}
	if got := walk("/api/v1/versions?limit=1", "versions", "route_active"); !slices.Equal(got, []string{"false", "false", "true", "false", "true"}) {
		t.Errorf("routed versions %v", got)
	}
	if got := walk("/api/v1/workflow-types?limit=1", "workflow_types", "workflow_type"); !slices.Equal(got, []string{"w0", "w1"}) {
		t.Errorf("types %v", got)
	}
	id := walk("/api/v1/deployments?limit=500", "deployments", "deployment_id")[0]
	w.get("/api/v1/deployments/" + id).ok(http.StatusOK)
	w.get("/api/v1/deployments/never").refused(http.StatusNotFound, "not_found", "DeploymentNotFound")
	w.get("/api/v1/workflow-types/never").refused(http.StatusNotFound, "not_found", "WorkflowTypeNotFound")
}

// server 1.9: who deployed and saved what is shown, and the way back is named.
func TestWhoDeployedAndSavedIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	by := []string{"X-Aion-Subject", "ada"}
	w.do("PUT", "/api/v1/documents/gate.awl", `{"source":`+quoted(gate)+`}`, by...).ok(201)
	if got := w.get("/api/v1/documents/gate.awl").object()["saved_by"]; got != "ada" {
		t.Errorf("saved by %v", got)
	}
	revision := w.get("/api/v1/revisions?path=gate.awl").object()["revisions"].([]any)[0].(map[string]any)
	if revision["saved_by"] != "ada" {
		t.Errorf("%v", revision)
	}
	first := w.post("/api/v1/deployments", `{"source":`+quoted(gate)+`}`, by...).ok(201).object()["deployment"].(map[string]any)
	hash := first["content_hash"].(string)
	w.post("/api/v1/deployments", `{"source":`+quoted(gate)+`}`, "X-Aion-Subject", "bo").ok(200)
	w.deploy(strings.Replace(gate, "an answer", "any answer", 1))
	listed := w.get("/api/v1/deployments").object()["deployments"].([]any)
	version := w.get("/api/v1/workflow-types/gate/versions/" + hash).object()
	if first["deployed_by"] != "ada" || listed[1].(map[string]any)["deployed_by"] != "ada" || version["deployed_by"] != "ada" {
		t.Errorf("%v, %v, %v", first, listed, version)
	}
	for range 2 { // and there again
		before := w.get("/api/v1/workflow-types/gate").object()["previous"].(string)
		moved := w.post("/api/v1/workflow-types/gate/route", `{"content_hash":"`+before+`"}`).ok(200).object()
		if after := w.get("/api/v1/workflow-types/gate").object(); after["previous"] != moved["previous"] || after["package_id"] != before {
			t.Errorf("%v after %v", after, moved)
		}
	}
}
