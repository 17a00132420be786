package callers_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aion/bootstrap"
	"aion/test/mcp/wire"
)

func list() wire.Request { return wire.Tool("1", "list_documents", `{}`) }

func runsOf(namespace string) wire.Request {
	return wire.Tool("1", "list_runs", fmt.Sprintf(`{"namespace":%q}`, namespace))
}

// mcp 80
func TestOffAdmitsEveryoneAsTheOperator(t *testing.T) {
	t.Parallel()
	w := openOff(t)
	for what, change := range map[string]func(wire.Request) wire.Request{
		"nothing": func(r wire.Request) wire.Request { return r },
		"every header": func(r wire.Request) wire.Request {
			return as(r, "ada", "none", "false").With("Authorization", "Bearer nonsense", "Basic x")
		},
		"a label": func(r wire.Request) wire.Request { return r.With("X-Aion-Subject", "ada", "bob") },
	} {
		w.deployed(change)
		w.started("anywhere", change)
		w.wantSuccess(what, w.Send(t, change(runsOf("elsewhere"))))
	}
}

// mcp 81
func TestTokenModeTellsRefusalsInTheResult(t *testing.T) {
	t.Parallel()
	w := openToken(t, nil)
	for what, c := range map[string]struct {
		request   func(wire.Request) wire.Request
		errorType string
		header    string
	}{
		"no credential": {func(r wire.Request) wire.Request { return r }, "MissingCredential", "Authorization: Bearer"},
		"only a name":   {func(r wire.Request) wire.Request { return r.With("X-Aion-Subject", "ada") }, "MissingCredential", "Authorization: Bearer"},
		"wrong secret": {func(r wire.Request) wire.Request {
			return as(r, "ada", "*", "true").With("Authorization", "Bearer wrong")
		}, "InvalidCredential", "Authorization: Bearer"},
		"a secret twice": {func(r wire.Request) wire.Request {
			return as(r, "ada", "*", "true").With("Authorization", "Bearer "+secret, "Bearer "+secret)
		}, "InvalidCredential", "Authorization"},
		"without subject": {func(r wire.Request) wire.Request { return r.With("Authorization", "Bearer "+secret) }, "MissingSubject", "x-aion-subject"},
	} {
		for _, tool := range []wire.Request{list(), runsOf("a"), wire.Tool("1", "check_document", `{"source":""}`)} {
			reply := w.Send(t, c.request(tool))
			w.wantRefusal(what, reply, "unauthenticated", c.errorType, c.header)
			if reply.Header.Get("WWW-Authenticate") != "" {
				t.Errorf("%s: a challenge in mode token", what)
			}
		}
		for _, method := range []string{"server/discover", "tools/list"} {
			without, with := w.Send(t, c.request(wire.RPC("1", method, ""))), w.Send(t, as(wire.RPC("1", method, ""), "ada", "*", "true"))
			if without.Status != http.StatusOK || without.Code(t) != 0 || !bytes.Equal(without.Body, with.Body) {
				t.Errorf("%s: %s answers %d, or something else than to others", what, method, without.Status)
			}
		}
		task := wire.Raw("1", "tasks/get", `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"x",`+wire.MetaTasks+`}}`).With("Mcp-Name", "x")
		if reply := w.Send(t, c.request(task)); reply.Code(t) != -32602 {
			t.Errorf("%s: tasks/get: %.300s", what, reply.Body)
		}
	}
	// A token in the address is not read.
	query := *w.Client
	query.URL += "?access_token=" + secret + "&authorization=Bearer%20" + secret
	w.wantRefusal("in the query", query.Send(t, list().With("X-Aion-Subject", "ada")), "unauthenticated", "MissingCredential")
}

// mcp 74
func TestTaskOfAnotherNameIsUnknown(t *testing.T) {
	t.Parallel()
	w := openToken(t, nil)
	ada := func(r wire.Request) wire.Request { return as(r, "ada", "*", "true") }
	w.deployed(ada)
	w.foreignTasksAreUnknown(ada, map[string]func(wire.Request) wire.Request{
		"bob": func(r wire.Request) wire.Request { return as(r, "bob", "*", "true") }, "nobody": func(r wire.Request) wire.Request { return r },
	})
}

// server 9: on /mcp a refusal of mode token stands in the result, so that of the rate does too; a good secret always works.
func TestManyWrongSecretsAreToldToWait(t *testing.T) {
	t.Parallel()
	w := openToken(t, nil)
	wrong := func(r wire.Request) wire.Request { return bearing(r, "wrong-secret-of-a-stranger") }
	for range 20 {
		w.wantRefusal("a wrong secret", w.Send(t, wrong(list())), "unauthenticated", "InvalidCredential")
	}
	w.wantRefusal("the 21st", w.Send(t, wrong(list())), "resource_exhausted", "RateLimited", "20 wrong credentials", "ms")
	if reply := w.Send(t, wrong(wire.RPC("1", "tools/list", ""))); reply.Status != http.StatusOK || reply.Code(t) != 0 {
		t.Errorf("tools/list: %d", reply.Status)
	}
	w.wantSuccess("the secret", w.Send(t, bearing(list(), secret)))
	w.wantRefusal("no secret", w.Send(t, list()), "unauthenticated", "MissingCredential")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer wrong")
	res, err := w.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
		t.Errorf("on a route of HTTP: %d %v", res.StatusCode, res.Header)
	}
}

// mcp 82
func TestDeployGrantGatesSaveAndDeployAlone(t *testing.T) {
	t.Parallel()
	w := openToken(t, nil)
	clerk := func(r wire.Request) wire.Request { return as(r, "clerk", "*", "yes") }
	save := wire.Tool("1", "save_document", arguments(t, "path", "gate.awl", "source", gateDoc))
	deploy := wire.Tool("1", "deploy_document", arguments(t, "path", "gate.awl", "content_hash", strings.Repeat("0", 64)))
	w.wantSuccess("list", w.Send(t, clerk(list())))
	w.wantSuccess("check", w.Send(t, clerk(wire.Tool("1", "check_document", arguments(t, "source", gateDoc)))))
	for what, request := range map[string]wire.Request{"save": save, "deploy": deploy} {
		w.wantRefusal(what, w.Send(t, clerk(request)), "deploy_denied", "DeployGrantMissing", "deploy grant", "x-aion-deploy", "deploy claim")
	}
	w.deployed(func(r wire.Request) wire.Request { return as(r, "clerk", "none", "True") })
	w.wantSuccess("read", w.Send(t, clerk(wire.Tool("1", "read_document", `{"path":"gate.awl"}`))))
	w.wantRefusal("the grant of an earlier call", w.Send(t, clerk(save)), "deploy_denied", "DeployGrantMissing")
}

// mcp 83
func TestNamespaceGrantsAreReadPerCall(t *testing.T) {
	t.Parallel()
	w := openToken(t, nil)
	w.deployed(func(r wire.Request) wire.Request { return as(r, "ada", "", "true") })
	for _, c := range []struct{ list, asked string }{{"a, b", "a"}, {" , b ,", "b"}, {"*", "anything"}, {"a,*", "c"}} {
		w.wantSuccess(c.list, w.Send(t, as(runsOf(c.asked), "ada", c.list, "")))
	}
	for _, c := range []struct{ list, asked string }{{"", "a"}, {"a", "b"}, {"a b", "a"}, {"A", "a"}, {"a*", "ab"}} {
		w.wantRefusal(c.list, w.Send(t, as(runsOf(c.asked), "ada", c.list, "true")), "namespace_denied", "NamespaceNotGranted",
			`"`+c.asked+`"`, "x-aion-namespaces", "namespaces claim")
	}
	start := wire.Tool("1", "start_run", `{"namespace":"b","workflow_type":"gate"}`)
	w.wantRefusal("start", w.Send(t, as(start, "ada", "a", "true")), "namespace_denied", "NamespaceNotGranted", `"b"`)
	// A name that cannot exist is denied first, and absent when it is granted.
	w.wantRefusal("no name", w.Send(t, as(runsOf("No Name"), "ada", "a", "")), "namespace_denied", "NamespaceNotGranted")
	w.wantRefusal("no name, granted", w.Send(t, as(runsOf("No Name"), "ada", "No Name", "")), "not_found", "NamespaceNotFound")
}

// A workflow of another namespace is answered like a missing one, byte for byte, by every tool.
const missing = "00000000-0000-4000-8000-000000000001"

// ofOneWorkflow are the tools that are given a workflow id, with their other arguments.
func ofOneWorkflow() map[string][]any {
	return map[string][]any{
		"describe_run": nil, "read_history": nil, "query": {"query_name", "state"}, "cancel": nil,
		"signal":          {"signal_name", "go", "payload", map[string]any{"ok": true}},
		"read_transcript": {"run_id", missing, "activity_id", 0, "attempt", 1},
	}
}

func TestForeignAndMissingLookTheSame(t *testing.T) { // mcp 46
	t.Parallel()
	w := openToken(t, nil)
	ada := func(r wire.Request) wire.Request { return as(r, "ada", "a", "true") }
	w.deployed(ada)
	foreign := w.started("a", ada)
	for tool, more := range ofOneWorkflow() {
		answers := map[string]string{}
		for _, id := range []string{foreign, missing} {
			pairs := append([]any{"namespace", "b", "workflow_id", id}, more...)
			reply := w.Send(t, as(wire.Tool("1", tool, arguments(t, pairs...)), "bob", "b", "true"))
			w.wantRefusal(tool, reply, "not_found", "WorkflowNotFound", "list_runs")
			answers[id] = strings.ReplaceAll(string(reply.Body), id, "ID")
		}
		if answers[foreign] != answers[missing] {
			t.Errorf("%s tells them apart:\n%s\n%s", tool, answers[foreign], answers[missing])
		}
	}
	w.wantSuccess("its owner sees it", w.Send(t, ada(wire.Tool("1", "describe_run", arguments(t, "namespace", "a", "workflow_id", foreign)))))
}

// mcp 55
func TestRateIsPerCallerAndNotInModeOff(t *testing.T) {
	t.Parallel()
	slow := func(c *bootstrap.Config) { c.MCPRatePerSecond, c.MCPRateBurst = 1, 3 }
	limited := func(w *world, who func(wire.Request) wire.Request) {
		t.Helper()
		for calls := range 200 { // a slow machine earns further tokens meanwhile
			reply := w.Send(t, who(list()))
			if !reply.Result(t).IsError {
				continue
			}
			w.wantRefusal("the rate", reply, "resource_exhausted", "RateLimited", "1 tool calls per second", "ms")
			if calls < 3 {
				t.Errorf("limited after %d calls, the burst is 3", calls)
			}
			return
		}
		t.Error("never limited")
	}
	w := openToken(t, slow)
	limited(w, func(r wire.Request) wire.Request { return as(r, "ada", "*", "true") })
	w.wantSuccess("another caller", w.Send(t, as(list(), "bob", "*", "true")))
	j := openJWKS(t, slow)
	limited(j, func(r wire.Request) wire.Request { return j.by(r, nil) })
	j.wantSuccess("another caller", j.Send(t, j.by(list(), map[string]any{"sub": "bob"})))
	o := open(t, slow)
	for range 20 {
		o.wantSuccess("mode off", o.Send(t, list()))
	}
}

func TestNamespacesAreCreatedOrMustExist(t *testing.T) {
	t.Parallel()
	ada := func(r wire.Request) wire.Request { return as(r, "ada", "*", "true") }
	start := wire.Tool("1", "start_run", `{"namespace":"acme","workflow_type":"gate"}`)
	w := openToken(t, nil)
	w.deployed(ada)
	if runs := w.wantSuccess("an absent namespace reads as empty", w.Send(t, ada(runsOf("acme")))); !strings.Contains(string(runs), `"runs":[]`) {
		t.Errorf("%s", runs)
	}
	w.wantSuccess("the first start creates it", w.Send(t, ada(start)))
	closed := openToken(t, func(c *bootstrap.Config) { c.NamespaceAutoCreate = "closed" })
	closed.deployed(ada)
	closed.wantRefusal("closed", closed.Send(t, ada(start)), "not_found", "NamespaceNotFound", `"acme"`)
	closed.wantRefusal("closed", closed.Send(t, ada(runsOf("acme"))), "not_found", "NamespaceNotFound", `"acme"`)
	told := ""
	for tool, more := range ofOneWorkflow() { // every tool says it alike
		reply := closed.Send(t, ada(wire.Tool("1", tool, arguments(t, append([]any{"namespace", "acme", "workflow_id", missing}, more...)...))))
		closed.wantRefusal(tool, reply, "not_found", "NamespaceNotFound", `"acme"`)
		if told == "" {
			told = string(reply.Body)
		}
		if told != string(reply.Body) {
			t.Errorf("%s: %s\nelsewhere: %s", tool, reply.Body, told)
		}
	}
	closed.wantRefusal("not granted comes first", closed.Send(t, as(runsOf("acme"), "bob", "b", "")), "namespace_denied", "NamespaceNotGranted")
	closed.wantSuccess("the default one exists", closed.Send(t, ada(runsOf("default"))))
	closed.started("default", ada)
}

func TestSingleModeHasOneNamespaceForEveryone(t *testing.T) {
	t.Parallel()
	single := func(c *bootstrap.Config) { c.NamespaceMode, c.NamespaceDefault = "single", "only" }
	w := openToken(t, single)
	w.wantSuccess("without any grant", w.Send(t, as(runsOf("only"), "ada", "", "")))
	w.wantRefusal("with every grant", w.Send(t, as(runsOf("other"), "ada", "*", "")), "namespace_denied", "NamespaceNotGranted")
	w.wantRefusal("nobody", w.Send(t, runsOf("only")), "unauthenticated", "MissingCredential")
	o := open(t, single)
	o.wantSuccess("off", o.Send(t, runsOf("only")))
	o.wantRefusal("off", o.Send(t, runsOf("other")), "namespace_denied", "NamespaceNotGranted")
}

// mcp 89
func TestSessionBearerIsAStrangerInEveryMode(t *testing.T) {
	t.Parallel()
	for mode, w := range map[string]*world{"off": openOff(t), "token": openToken(t, nil), "jwks": openJWKS(t, nil)} {
		bearer := w.remember("aion_as_0123456789abcdef0123456789abcdef")
		for _, value := range [][]string{{"Bearer " + bearer}, {"bearer   " + bearer}, {"BEARER\t" + bearer}, {"Bearer " + secret, "Bearer " + bearer}} {
			for _, request := range []wire.Request{list(), wire.RPC("1", "tools/list", ""), wire.RPC("1", "server/discover", "")} {
				reply := w.Send(t, as(request, "ada", "*", "true").With("Authorization", value...))
				if reply.Status != http.StatusUnauthorized || reply.Header.Get("WWW-Authenticate") != `Bearer realm="aion"` {
					t.Errorf("%s %q: %d %q", mode, value, reply.Status, reply.Header.Get("WWW-Authenticate"))
				}
				if !strings.Contains(string(reply.Body), `"code":"unauthenticated"`) || reply.Header.Get("Content-Type") != "application/problem+json" {
					t.Errorf("%s: %s", mode, reply.Body)
				}
			}
		}
	}
}
