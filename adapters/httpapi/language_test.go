package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

const typed = `//! Import a schema.
workflow imp
  input ticket: Ticket
  outcome done: type Ticket, route success

type Ticket = schema("ticket.json")

step finish
  route done(ticket)
`

func TestTextIsJudgedWithWhatComesWithIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if m := w.post("/api/v1/awl/check", encode(t, map[string]any{"source": hello})).ok(http.StatusOK).object(); m["ok"] != true || m["deploys_green"] != true {
		t.Errorf("%v", m)
	}
	wrong := w.post("/api/v1/awl/check", encode(t, map[string]any{"source": strings.Replace(hello, "|> greet", "|> gret", 1)})).ok(http.StatusOK).object()
	found, _ := wrong["diagnostics"].([]any)
	if wrong["ok"] != false || wrong["steps"] != nil || len(found) == 0 || found[0].(map[string]any)["fix"] == nil {
		t.Errorf("%v", wrong)
	}
	schema := `{"type":"object","additionalProperties":false,"required":["id"],"properties":{"id":{"type":"string"}}}`
	alone := w.post("/api/v1/awl/check", encode(t, map[string]any{"source": typed})).object()
	whole := w.post("/api/v1/awl/check", encode(t, map[string]any{"source": typed, "imports": []any{map[string]string{"path": "ticket.json", "source": schema}}})).object()
	if alone["ok"] != false || whole["ok"] != true {
		t.Errorf("without its import %v, with it %v", alone, whole)
	}
	w.post("/api/v1/awl/check", `{"source":"x","imports":[{"path":"a.json","source":"{}"},{"path":"a.json","source":""}]}`).
		refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	w.post("/api/v1/awl/check", `{"source":"x","imports":[{"path":"a.json"}]}`).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	w.post("/api/v1/awl/check", `{"path":"x.awl"}`).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	w.post("/api/v1/awl/check", encode(t, map[string]any{"source": strings.Repeat("x", 1<<20+1)})).
		refused(http.StatusRequestEntityTooLarge, "invalid_input", "DocumentTooLarge")
	w.post("/api/v1/awl/check", encode(t, map[string]any{"source": "x", "path": "../x.awl"})).refused(http.StatusBadRequest, "invalid_input", "DocumentPathInvalid")
}

func TestTextIsFormattedDrawnAndDescribed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := encode(t, map[string]string{"source": strings.Replace(hello, "workflow hello", "workflow   hello", 1)})
	formatted := w.post("/api/v1/awl/format", body).ok(http.StatusOK).object()
	if formatted["formatted"] != hello || formatted["changed"] != true {
		t.Errorf("%v", formatted)
	}
	if m := w.post("/api/v1/awl/format", encode(t, map[string]string{"source": hello})).object(); m["changed"] != false {
		t.Errorf("%v", m)
	}
	w.post("/api/v1/awl/format", `{"source":"workflow ("}`).refused(http.StatusUnprocessableEntity, "invalid_input", "CheckRefused")
	drawn := w.post("/api/v1/awl/graph", encode(t, map[string]string{"source": hello, "path": "hello.awl"})).ok(http.StatusOK).object()
	if drawn["complete"] != true || len(drawn["nodes"].([]any)) != 2 || drawn["document"].(map[string]any)["path"] != "hello.awl" {
		t.Errorf("%v", drawn)
	}
	if m := w.post("/api/v1/awl/graph", `{"source":"workflow ("}`).ok(http.StatusOK).object(); m["complete"] != false {
		t.Errorf("%v", m)
	}
	schemas := w.post("/api/v1/awl/schema", encode(t, map[string]string{"source": hello})).ok(http.StatusOK).object()
	if schemas["input_schema"].(map[string]any)["title"] != "hello" || len(schemas["signals"].([]any)) != 0 {
		t.Errorf("%v", schemas)
	}
	w.post("/api/v1/awl/schema", `{"source":"workflow ("}`).refused(http.StatusUnprocessableEntity, "invalid_input", "CheckRefused")
	worker := "//! Only a worker.\nworker shell\n  action greet(name: String) -> String\n    run \"echo {{name}}\" capture text\n"
	if m := w.post("/api/v1/awl/schema", encode(t, map[string]string{"source": worker})).ok(http.StatusOK).object(); m["input_schema"] != nil {
		t.Errorf("%v", m)
	}
}

func TestGuideAndTemplatesAreServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	card := w.get("/api/v1/awl/guide").ok(http.StatusOK)
	if !strings.HasPrefix(card.header.Get("Content-Type"), "text/markdown") || !strings.HasPrefix(string(card.body), "# ") {
		t.Errorf("%v %.100s", card.header, card.body)
	}
	w.get("/api/v1/awl/guide", "If-None-Match", card.header.Get("ETag")).ok(http.StatusNotModified)
	var list struct {
		Templates []struct{ Name, Title string }
	}
	w.get("/api/v1/awl/templates").ok(http.StatusOK).into(&list)
	if len(list.Templates) == 0 {
		t.Fatal("there is no template")
	}
	for _, template := range list.Templates {
		got := w.get("/api/v1/awl/templates/" + template.Name).ok(http.StatusOK)
		if m := w.post("/api/v1/awl/check", encode(t, map[string]string{"source": got.text("source")})).object(); m["ok"] != true {
			t.Errorf("template %s does not check: %v", template.Name, m)
		}
	}
	w.get("/api/v1/awl/templates/never").refused(http.StatusNotFound, "not_found", "TemplateNotFound")
}
