package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const spaces = "/api/v1/namespaces"

func TestNamespaceComesChangesAndGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.post(spaces, `{"name":"acme","description":"the shop","retention_ms":3600000}`).ok(http.StatusCreated)
	if m := made.object(); m["created_by"] != "operator" || m["max_in_flight_activities"] != nil || made.header.Get("Location") != spaces+"/acme" {
		t.Errorf("%v %v", made.header, m)
	}
	w.post(spaces, `{"name":"acme"}`).refused(http.StatusConflict, "invalid_state", "NamespaceExists")
	w.post(spaces, `{"name":"Bad name"}`).refused(http.StatusBadRequest, "invalid_input", "NameInvalid")
	for _, bad := range []string{
		`{"name":""}`, `{}`, `{"name":"x","retention_ms":-1}`, `{"name":"x","retention_ms":5}`, `{"name":"x","max_in_flight_activities":0}`,
		`{"name":"x","retention_ms":9223372036854775807}`, `{"name":"x","description":7}`,
	} {
		w.post(spaces, bad).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	}
	change := func(body string) string {
		m := w.do(http.MethodPatch, spaces+"/acme", body).ok(http.StatusOK).object()
		return fmt.Sprint(m["description"], m["max_in_flight_activities"], m["retention_ms"])
	}
	for _, c := range [][2]string{
		{`{}`, "the shop<nil>3600000"},
		{`{"max_in_flight_activities":3}`, "the shop33600000"},
		{`{"retention_ms":null}`, "the shop3<nil>"},
		{`{"retention_ms":0,"description":null}`, "<nil>30"},
	} {
		if got := change(c[0]); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
	w.do(http.MethodPatch, spaces+"/never", `{}`).refused(http.StatusNotFound, "not_found", "NamespaceNotFound")
	w.do(http.MethodPatch, spaces+"/acme", `{"retention":1}`).refused(http.StatusBadRequest, "invalid_input", "UnknownMember")
	w.get(spaces+"/never").refused(http.StatusNotFound, "not_found", "NamespaceNotFound")
	w.do(http.MethodDelete, spaces+"/default", "").refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	w.deploy(holding)
	w.post(spaces+"/acme/runs", `{"workflow_type":"holding","input":{}}`).ok(http.StatusCreated)
	if m := w.get(spaces + "/acme").ok(http.StatusOK).object(); fmt.Sprint(m["open_runs"]) != "1" {
		t.Errorf("%v", m)
	}
	w.do(http.MethodDelete, spaces+"/acme", "").refused(http.StatusConflict, "invalid_state", "NamespaceNotEmpty")
	w.post(spaces, `{"name":"empty"}`).ok(http.StatusCreated)
	w.do(http.MethodDelete, spaces+"/empty", "").ok(http.StatusNoContent)
	w.do(http.MethodDelete, spaces+"/empty", "").refused(http.StatusNotFound, "not_found", "NamespaceNotFound")
}

// server 8: an ungranted namespace is refused from the caller alone, and a list shows granted ones only.
func TestNamespacesOfOthersAreNotShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withToken)
	all := as("root", "*", true)
	for n := range 7 {
		w.post(spaces, fmt.Sprintf(`{"name":"n%d"}`, n), all...).ok(http.StatusCreated)
	}
	var seen []string
	for cursor := ""; ; {
		page := w.get(spaces+"?limit=2"+cursor, as("ada", "n1,n3,n5,n6,never", false)...).ok(http.StatusOK).object()
		for _, n := range page["namespaces"].([]any) {
			seen = append(seen, fmt.Sprint(n.(map[string]any)["name"]))
		}
		next, more := page["next_cursor"].(string)
		if !more {
			break
		}
		cursor = "&cursor=" + next
	}
	if strings.Join(seen, " ") != "n1 n3 n5 n6" {
		t.Errorf("%v", seen)
	}
	w.get(spaces+"/n2", as("ada", "n1", true)...).refused(http.StatusForbidden, "namespace_denied", "NamespaceNotGranted")
	w.get(spaces+"/other", as("ada", "n1", true)...).refused(http.StatusForbidden, "namespace_denied", "NamespaceNotGranted")
	w.post(spaces, `{"name":"mine"}`, as("ada", "n1", true)...).refused(http.StatusForbidden, "namespace_denied", "NamespaceNotGranted")
	w.do(http.MethodDelete, spaces+"/n1", "", as("ada", "n1", false)...).refused(http.StatusForbidden, "deploy_denied", "DeployGrantMissing")
	// Of the runs of a version and of a type only those are shown and counted that the reader may see.
	w.post("/api/v1/deployments", encode(t, map[string]string{"source": holding}), all...).ok(http.StatusCreated)
	for n := range 3 {
		w.post(fmt.Sprintf("%s/n%d/runs", spaces, n), `{"workflow_type":"holding","input":{}}`, all...).ok(http.StatusCreated)
	}
	versions := w.get("/api/v1/versions", as("ada", "n1", false)...).ok(http.StatusOK).object()["versions"].([]any)
	pins := versions[0].(map[string]any)["pinned_by"].(map[string]any)
	if len(pins["workflow_ids"].([]any)) != 1 || fmt.Sprint(pins["count"]) != "1" {
		t.Errorf("%v", pins)
	}
	for caller, want := range map[string]string{"n1": "1", "n5,n2": "1", "n0,n1": "2", "n6": "0", "*": "3"} {
		types := w.get("/api/v1/workflow-types", as("ada", caller, false)...).ok(http.StatusOK).object()["workflow_types"].([]any)
		versions := w.get("/api/v1/versions", as("ada", caller, false)...).ok(http.StatusOK).object()["versions"].([]any)
		if got := fmt.Sprint(types[0].(map[string]any)["open_runs"], " ", versions[0].(map[string]any)["open_runs"]); got != want+" "+want {
			t.Errorf("%s counts %s", caller, got)
		}
	}
}
