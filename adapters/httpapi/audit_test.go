package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// server 47: what was changed and what was refused stands in the log, which holds.
func TestAuditIsListedAndVerified(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withToken)
	ada, bob := as("ada", "acme", true), as("bob", "acme", false)
	w.post(spaces, `{"name":"acme"}`, ada...).ok(http.StatusCreated)
	w.save("a.awl", "1", ada...).ok(http.StatusCreated)
	w.save("a.awl", "1", append([]string{"If-Match", "*"}, ada...)...).ok(http.StatusOK) // changes nothing
	w.save("a.awl", "2", ada...).refused(http.StatusPreconditionRequired, "invalid_input", "PreconditionRequired")
	w.do(http.MethodDelete, docs+"a.awl", "", append([]string{"If-Match", "*"}, ada...)...).ok(http.StatusNoContent)
	w.do(http.MethodDelete, docs+"a.awl", "", bob...).refused(http.StatusForbidden, "deploy_denied", "DeployGrantMissing")
	w.get("/api/v1/whoami", "Authorization", "Bearer wrong wrong wrong", "X-Aion-Subject", "eve").refused(http.StatusUnauthorized, "unauthenticated", "InvalidCredential")
	read := func(query string) (seen []string) {
		for cursor := ""; ; {
			page := w.get("/api/v1/audit?limit=2"+query+cursor, ada...).ok(http.StatusOK).object()
			for _, entry := range page["records"].([]any) {
				r := entry.(map[string]any)
				seen = append(seen, fmt.Sprint(r["action"], " ", r["target"], " ", r["outcome"]))
				if r["surface"] != "http" && r["surface"] != "system" || r["hash"] == "" {
					t.Errorf("%v", r)
				}
			}
			next, more := page["next_cursor"].(string)
			if !more {
				return seen
			}
			cursor = "&cursor=" + next
		}
	}
	for query, want := range map[string]string{
		"&subject=ada":         "namespace.create acme ok, document.save a.awl ok, document.save a.awl refused, document.delete a.awl ok",
		"&subject=bob":         "grant.refused DELETE /api/v1/documents/*path refused",
		"&action=auth.refused": "auth.refused /api/v1/whoami refused", "&namespace=acme&outcome=ok": "namespace.create acme ok",
		"&target=a.awl&action=document.delete": "document.delete a.awl ok", "&outcome=refused&subject=ada": "document.save a.awl refused",
		"&from=2000-01-01T00:00:00Z&to=2000-01-02T00:00:00Z": "", "&to=2100-01-01T00:00:00Z&action=namespace.create&subject=ada": "namespace.create acme ok",
	} {
		if got := strings.Join(read(query), ", "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	lines := w.get("/api/v1/audit", append([]string{"Accept", "application/x-ndjson"}, ada...)...).ok(http.StatusOK)
	all := read("")
	if n := strings.Count(string(lines.body), "\n"); n != len(all) {
		t.Errorf("%d lines, %d records", n, len(all))
	}
	verdict := w.get("/api/v1/audit/verify", ada...).ok(http.StatusOK).object()
	if verdict["ok"] != true || fmt.Sprint(verdict["records"]) != fmt.Sprint(len(all)) || verdict["first_bad"] != nil {
		t.Errorf("%v of %d", verdict, len(all))
	}
	w.get("/api/v1/audit?outcome=good", ada...).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	w.get("/api/v1/audit?from=yesterday", ada...).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
}
