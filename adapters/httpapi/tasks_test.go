package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/test/mcp/wire"
)

// mcp calls a tool and gives the structured content of its answer.
func (w *world) mcp(tool, arguments string) reply {
	w.t.Helper()
	client := wire.Client{URL: w.url + "/mcp", HTTP: w.client}
	return reply{t: w.t, body: client.Send(w.t, wire.Tool("1", tool, arguments)).Result(w.t).Structured}
}

// waiting starts a run of holding that somebody waits for, and gives the task.
func (w *world) waiting(caller []string) string {
	w.t.Helper()
	request := wire.Tool("1", "start_run", `{"namespace":"default","workflow_type":"holding","input":{},"await_completion":true}`).WithTasks()
	for i := 0; i < len(caller); i += 2 {
		request = request.With(caller[i], caller[i+1])
	}
	client := wire.Client{URL: w.url + "/mcp", HTTP: w.client}
	return client.Send(w.t, request).Task(w.t).ID
}

// mcp 6: what clients of the protocol wait for is seen and ended over HTTP, by its owner alone.
func TestTasksAreListedShownAndCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withToken)
	ada, bob, root := as("ada", "default", false), as("bob", "default", false), as("root", "*", true)
	w.post("/api/v1/deployments", encode(t, map[string]string{"source": holding}), root...).ok(http.StatusCreated)
	var made []string
	for range 3 {
		made = append([]string{w.waiting(ada)}, made...)
	}
	foreign := w.waiting(bob)
	walk := func(query string, caller []string) (seen []string) {
		for cursor := ""; ; {
			page := w.get("/api/v1/tasks?limit=2"+query+cursor, caller...).ok(http.StatusOK).object()
			for _, entry := range page["tasks"].([]any) {
				seen = append(seen, fmt.Sprint(entry.(map[string]any)["task_id"]))
			}
			next, more := page["next_cursor"].(string)
			if !more {
				return seen
			}
			cursor = "&cursor=" + next
		}
	}
	if got := walk("", ada); !slices.Equal(got, made) {
		t.Errorf("%v, want %v", got, made)
	}
	if got := walk("&owner=all", root); !slices.Equal(got, append([]string{foreign}, made...)) {
		t.Errorf("of all owners %v", got)
	}
	if got := walk("", root); len(got) != 0 {
		t.Errorf("of somebody who made none %v", got)
	}
	one := w.get("/api/v1/tasks/"+made[0], ada...).ok(http.StatusOK).object()
	if one["status"] != "working" || one["owner"] != "token:ada" || one["namespace"] != "default" || one["expires_at"] != nil {
		t.Errorf("%v", one)
	}
	for _, path := range []string{"/api/v1/tasks/" + foreign, "/api/v1/tasks/" + strings.Replace(foreign, "task-", "job-", 1), "/api/v1/tasks/never"} {
		w.get(path, ada...).refused(http.StatusNotFound, "not_found", "TaskNotFound")
		w.post(path+"/cancel", "", ada...).refused(http.StatusNotFound, "not_found", "TaskNotFound")
	}
	for range 2 { // an ended one stays as it is
		if m := w.post("/api/v1/tasks/"+made[0]+"/cancel", "", ada...).ok(http.StatusOK).object(); m["status"] != "cancelled" || m["expires_at"] == nil {
			t.Errorf("%v", m)
		}
	}
	if got := walk("&status=cancelled", ada); !slices.Equal(got, made[:1]) {
		t.Errorf("cancelled ones %v", got)
	}
	if got := walk("&status=working", ada); !slices.Equal(got, made[1:]) {
		t.Errorf("working ones %v", got)
	}
}

// server 7: the same documents, findings and deploys have equal values over MCP and over HTTP.
func TestDocumentsHaveEqualValuesOverMCPAndHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.save("team/hello.awl", hello).ok(http.StatusCreated)
	same := func(what string, mcp, other any, members ...string) {
		t.Helper()
		of := func(v any) map[string]any {
			out := map[string]any{}
			for _, m := range members {
				out[m] = v.(map[string]any)[m]
			}
			return out
		}
		if d := cmp.Diff(of(mcp), of(other)); d != "" {
			t.Errorf("%s (-mcp +http):\n%s", what, d)
		}
	}
	list := w.mcp("list_documents", `{}`).object()
	page := w.get("/api/v1/documents").object()
	same("the list", list, page, "count")
	same("an entry", list["documents"].([]any)[0], page["documents"].([]any)[0], "path", "name", "content_hash", "bytes", "modified_at")
	read := w.get(docs + "team/hello.awl").object()
	same("a document", w.mcp("read_document", `{"path":"team/hello.awl"}`).object(), read, "path", "name", "source", "content_hash", "bytes")
	wrong := encode(t, map[string]string{"source": strings.Replace(hello, "String", "Strin", 1)})
	mcp, other := w.mcp("check_document", wrong).object(), w.post("/api/v1/awl/check", wrong).object()
	same("a report", mcp, other, "ok", "deploys_green")
	found := mcp["diagnostics"].([]any)
	if len(found) == 0 || len(found) != len(other["diagnostics"].([]any)) {
		t.Fatalf("%v and %v", mcp, other)
	}
	for i := range found {
		same("a finding", found[i], other["diagnostics"].([]any)[i], "class", "code", "message", "line", "column")
	}
	deployed := w.mcp("deploy_document", encode(t, map[string]any{"path": "team/hello.awl", "content_hash": read["content_hash"]})).object()["deployment"]
	id := fmt.Sprint(deployed.(map[string]any)["deployment_id"])
	same("a deployment", deployed, w.get("/api/v1/deployments/"+id).object(),
		"deployment_id", "document_path", "content_hash", "workflow_type", "package_id", "deployed_at")
}
