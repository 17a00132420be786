package httpapi_test

import (
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/test/contract"
)

// server 1
func TestTheDocumentNamesTheRoutesOfTheRouter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var served []string
	param := regexp.MustCompile(`[:*](\w+)`)
	for _, r := range w.routes() {
		path, ours := strings.CutPrefix(r.Path, "/api/v1")
		if ours && r.Method != http.MethodHead && r.Method != http.MethodOptions {
			served = append(served, r.Method+" "+param.ReplaceAllString(path, "{$1}"))
		}
	}
	doc := contract.Load(t, w.get("/openapi.json").ok(http.StatusOK).body)
	var documented []string
	ids := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			name := method + " " + path
			documented = append(documented, name)
			if op.OperationID == "" || ids[op.OperationID] {
				t.Errorf("%s has no operationId of its own", name)
			}
			ids[op.OperationID] = true
			grants := []any{"public", "authenticated", "namespace", "deploy", "namespace deploy"}
			if !slices.Contains(grants, op.Extensions["x-aion-grant"]) {
				t.Errorf("%s has the grant %v", name, op.Extensions["x-aion-grant"])
			}
			good := slices.ContainsFunc(slices.Collect(maps.Keys(op.Responses.Map())), func(s string) bool { return strings.HasPrefix(s, "2") })
			if !good || op.Responses.Default() == nil {
				t.Errorf("%s needs an answer of 2xx and the problem as default", name)
			}
		}
	}
	slices.Sort(served)
	slices.Sort(documented)
	if d := cmp.Diff(served, documented); d != "" {
		t.Error(d)
	}
}

// server 2
func TestTheDocumentIsKeptWithItsTag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.get("/openapi.json").ok(http.StatusOK)
	if first.header.Get("Cache-Control") != "no-cache" || first.header.Get("ETag") == "" {
		t.Errorf("headers %v", first.header)
	}
	if again := w.get("/openapi.json", "If-None-Match", first.header.Get("ETag")).ok(http.StatusNotModified); len(again.body) > 0 {
		t.Error("304 with a body")
	}
}

// server 21
func TestTheCodesOfTheDocumentAreThoseOfRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := contract.Load(t, w.get("/openapi.json").ok(http.StatusOK).body)
	var documented, known []string
	for _, v := range doc.Components.Schemas["code"].Value.Enum {
		documented = append(documented, v.(string))
	}
	for _, code := range codes() {
		known = append(known, string(code))
	}
	slices.Sort(documented)
	slices.Sort(known)
	if d := cmp.Diff(known, documented); d != "" {
		t.Error(d)
	}
}

// What the domain and the use cases refuse with is in the document; a defect is told as one of three types.
//
// server 21
func TestEveryErrorTypeOfTheUseCasesIsInTheDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := contract.Load(t, w.get("/openapi.json").ok(http.StatusOK).body)
	known := map[string]bool{}
	for _, v := range doc.Components.Schemas["error_type"].Value.Enum {
		known[v.(string)] = true
	}
	// Refusals that no route of the API gives: of the store towards the engine, of configuration, and of other surfaces.
	inside := []string{
		"IdempotencyTaken", "IdempotencyUnknown", "ClaimLost", "TaskEnded", "TaskLeased", "AuditBroken", "IllegalFact", "PlanFormatUnknown", "PlanInvalid",
		"SchemaInvalid",
	}
	literal := regexp.MustCompile(`Code: +domain\.Code(\w+), Type: +"(\w+)"`)
	for _, root := range []string{"../../domain", "../../application", "../../ports", "."} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range literal.FindAllStringSubmatch(string(text), -1) {
				if m[1] != "Backend" && m[1] != "StoreLocked" && !known[m[2]] && !slices.Contains(inside, m[2]) {
					t.Errorf("%s refuses with %s, which is not in the document", path, m[2])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
