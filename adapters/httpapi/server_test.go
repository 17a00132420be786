package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aion/bootstrap"
)

const secret = "a secret of many letters"

func withToken(c *bootstrap.Config) { c.AuthMode, c.AuthToken = "token", secret }

// as are the headers of a caller in mode token.
func as(subject, namespaces string, deploy bool) []string {
	return []string{
		"Authorization", "Bearer " + secret, "X-Aion-Subject", subject, "X-Aion-Namespaces", namespaces, "X-Aion-Deploy", fmt.Sprint(deploy),
	}
}

func TestServerTellsOfItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.get("/api/v1/server").ok(http.StatusOK).object()
	if server["state"] != "serving" || server["auth_mode"] != "off" || server["store"].(map[string]any)["backend"] != "memory" || len(server["replicas"].([]any)) != 1 {
		t.Errorf("%v", server)
	}
	if m := w.get("/api/v1/auth").ok(http.StatusOK).object(); m["mode"] != "off" || m["loopback"] != true || m["oidc"] != nil {
		t.Errorf("%v", m)
	}
	if m := w.get("/api/v1/whoami").ok(http.StatusOK).object(); m["subject"] != "operator" || fmt.Sprint(m["namespaces"]) != "[*]" || m["deploy"] != true {
		t.Errorf("%v", m)
	}
}

// server 39: what a reload takes over is shown, and what waits for a restart is named.
func TestReloadShowsWhatWaitsForARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	next := w.app.Config
	next.ServerListen, next.LimitMaxInFlight = "127.0.0.1:1", 7
	if _, _, err := w.app.Reload(next); err != nil {
		t.Fatal(err)
	}
	server := w.get("/api/v1/server").ok(http.StatusOK).object()
	if fmt.Sprint(server["pending_restart"]) != "[server.listen]" || fmt.Sprint(server["limits"].(map[string]any)["limits.max_in_flight_activities"]) != "7" {
		t.Errorf("%v, %v", server["pending_restart"], server["limits"])
	}
	var config struct {
		Keys []struct {
			Key   string
			Value any
		}
	}
	w.get("/api/v1/server/config").ok(http.StatusOK).into(&config)
	shown := map[string]string{}
	for _, k := range config.Keys {
		shown[k.Key] = fmt.Sprint(k.Value)
	}
	if shown["server.listen"] == "127.0.0.1:1" || shown["limits.max_in_flight_activities"] != "7" {
		t.Errorf("%v", shown)
	}
}

// server 9, server 38: without a credential nothing but the sign-in is told, and a secret never.
func TestCallersAreKnownBeforeAnythingIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withToken)
	w.get("/api/v1/auth").ok(http.StatusOK)
	for _, path := range []string{"whoami", "server", "server/config", "namespaces", "documents", "versions", "tasks", "audit", "awl/guide"} {
		got := w.get("/api/v1/"+path).refused(http.StatusUnauthorized, "unauthenticated", "MissingCredential")
		if got.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s is refused without a challenge", path)
		}
	}
	clerk := as("ada", "acme,shop", false)
	who := w.get("/api/v1/whoami", clerk...).ok(http.StatusOK).object()
	if who["subject"] != "ada" || fmt.Sprint(who["namespaces"]) != "[acme shop]" || who["deploy"] != false || who["source"] != "header" || who["auth_mode"] != "token" {
		t.Errorf("%v", who)
	}
	for _, c := range [][2]string{
		{http.MethodGet, "server/config"},
		{http.MethodGet, "audit"},
		{http.MethodGet, "audit/verify"},
		{http.MethodPost, "namespaces"},
		{http.MethodPatch, "namespaces/acme"},
		{http.MethodDelete, "namespaces/acme"},
		{http.MethodPut, "documents/a.awl"},
		{http.MethodDelete, "documents/a.awl"},
		{http.MethodPost, "deployments"},
		{http.MethodPost, "workflow-types/w/route"},
		{http.MethodDelete, "workflow-types/w/versions/1"},
		{http.MethodGet, "tasks?owner=all"},
	} {
		got := w.do(c[0], "/api/v1/"+c[1], "", clerk...).refused(http.StatusForbidden, "deploy_denied", "DeployGrantMissing")
		for _, part := range []string{"deploy grant", "x-aion-deploy", "deploy claim"} {
			if !strings.Contains(got.text("message"), part) {
				t.Errorf("%v: %q lacks %q", c, got.text("message"), part)
			}
		}
	}
	config := w.get("/api/v1/server/config", as("ada", "", true)...).ok(http.StatusOK)
	if strings.Contains(string(config.body), secret) || !strings.Contains(string(config.body), `"auth.token"`) {
		t.Errorf("%s", config.body)
	}
}
