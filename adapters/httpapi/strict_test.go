package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"aion/adapters/httpapi"
	"aion/bootstrap"
	"aion/test/fake"
)

// server 3, report 68
func TestABodyIsReadStrictly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(one)
	deep := `{"workflow_type":"one","input":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`
	for body, errorType := range map[string]string{
		``: "MediaTypeUnsupported", `{`: "JSONInvalid", `[]`: "SchemaViolation", `null`: "SchemaViolation", `{}`: "SchemaViolation",
		`{"workflow_type":"one","input":{"n":1}} x`: "JSONInvalid", "{\"workflow_type\":\"\xff\"}": "JSONInvalid",
		`{"workflow_type":"one","workflow_type":"one"}`: "DuplicateMember", `{"workflow_type":"one","input":{"n":1,"n":1}}`: "DuplicateMember",
		`{"workflow_type":"one","Input":{"n":1}}`: "UnknownMember", `{"workflow_type":"one","ſignal":null}`: "UnknownMember",
		`{"worKflow_type":"one"}`: "UnknownMember", `{"workflow_type":"one","in\u0000put":{"n":1}}`: "JSONInvalid",
		`{"workflow_type":"one","input":{"\u0000":1}}`: "JSONInvalid", deep: "JSONInvalid",
		`{"workflow_type":"one","input":{"n":1e999}}`: "JSONInvalid", `{"workflow_type":"one","input":{"n":9223372036854775808}}`: "JSONInvalid",
		`{"workflow_type":"one","input":{"n":-9223372036854775809}}`: "JSONInvalid", `{"workflow_type":1}`: "SchemaViolation",
		`{"workflow_type":""}`: "SchemaViolation", `{"workflow_type":"one","labels":[]}`: "SchemaViolation",
		`{"workflow_type":"one","labels":{"a":1}}`: "SchemaViolation", `{"workflow_type":"one","signal":{"signal_name":"x","paylod":1}}`: "SchemaViolation",
	} {
		status := http.StatusBadRequest
		if errorType == "MediaTypeUnsupported" {
			status = http.StatusUnsupportedMediaType
		}
		w.post(runsOf, body).refused(status, "invalid_input", errorType)
	}
	if list := w.get(runsOf).object()["runs"].([]any); len(list) > 0 {
		t.Errorf("refused bodies started runs: %v", list)
	}
	w.post(runsOf, `{"workflow_type":"one","input":{"n":1},"labels":null,"workflow_id":null,"signal":null}`).ok(http.StatusCreated)
	w.post(runsOf, `{"workflow_type":"one","input":null}`).refused(400, "invalid_input", "InputRejected")
}

// server 5
func TestAQueryIsReadStrictly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	for query, errorType := range map[string]string{
		"statsu=Running": "UnknownParameter", "workflow_type=a&workflow_type=b": "UnknownParameter", "status=running": "SchemaViolation",
		"status=": "SchemaViolation", "limit=0": "SchemaViolation", "limit=501": "SchemaViolation", "limit=x": "SchemaViolation", "limit=": "SchemaViolation",
		"started_after=yesterday": "SchemaViolation", "cursor=": "CursorInvalid", "cursor=!": "CursorInvalid", "cursor=AAAA": "CursorInvalid",
		"attentive=true": "UnknownParameter", "attention=yes": "SchemaViolation", "order=up": "SchemaViolation", "label=x": "SchemaViolation",
	} {
		w.get(runsOf+"?"+query).refused(400, "invalid_input", errorType)
	}
	if got := string(w.get(runsOf + "?status=running").body); !strings.Contains(got, "Running") {
		t.Errorf("what is right is not named: %s", got)
	}
	if got := string(w.get(runsOf + "?statsu=Running").body); !strings.Contains(got, "did you mean status?") {
		t.Errorf("what is right is not named: %s", got)
	}
	for _, malformed := range []string{"status=Running;workflow_type=gate", "workflow_type=%zz", "q=%", ";", "limit=1&%=1"} {
		w.get(runsOf+"?"+malformed).refused(400, "invalid_input", "SchemaViolation")
		w.get(run+"?"+malformed).refused(400, "invalid_input", "SchemaViolation")
	}
	w.get(run+"?x=1").refused(400, "invalid_input", "UnknownParameter")
	w.get(run+"/history?type=workflowstarted").refused(400, "invalid_input", "SchemaViolation")
	w.get(run+"/history/x").refused(400, "invalid_input", "SchemaViolation")
	w.get(run+"/outcome?wait_ms=30001").refused(400, "invalid_input", "SchemaViolation")
	w.get(run+"/activities?open=yes").refused(400, "invalid_input", "SchemaViolation")
	w.get(run+"/history/stream", "Last-Event-ID", "x", "Accept", "text/event-stream").refused(400, "invalid_input", "SchemaViolation")
}

// server 1
func TestPathsMethodsAndMediaTypesAreExact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(one)
	w.get("/api/v1/nothing").refused(404, "not_found", "RouteNotFound")
	w.get(runsOf+"/").refused(404, "not_found", "RouteNotFound")
	refused := w.do(http.MethodPut, runsOf, "").refused(405, "invalid_input", "MethodNotAllowed")
	for _, method := range []string{"GET", "HEAD", "POST"} {
		if allow := refused.header.Get("Allow"); !strings.Contains(allow, method) {
			t.Errorf("Allow %q lacks %s", allow, method)
		}
	}
	w.get(runsOf, "Accept", "text/html").refused(406, "invalid_input", "NotAcceptable")
	w.get(runsOf, "Accept", "application/json;q=0, */*").refused(406, "invalid_input", "NotAcceptable")
	w.post(runsOf, `{"workflow_type":"one"}`, "Content-Type", "text/plain").refused(415, "invalid_input", "MediaTypeUnsupported")
	w.post(runsOf, `{"workflow_type":"one"}`, "Content-Type", "application/json; charset=latin1").refused(415, "invalid_input", "MediaTypeUnsupported")
	w.post(runsOf, `{"workflow_type":"one"}`, "Content-Encoding", "gzip").refused(415, "invalid_input", "MediaTypeUnsupported")
	w.post(runsOf, `{"workflow_type":"one","input":{"n":1}}`, "Content-Type", "application/json; charset=UTF-8").ok(http.StatusCreated)
	head := w.do(http.MethodHead, runsOf, "").ok(http.StatusOK)
	if len(head.body) > 0 || head.header.Get("Content-Type") != "application/json" || head.header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %v %s", head.header, head.body)
	}
}

// server 20
func TestWhatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *bootstrap.Config) { c.APIMaxBodyBytes = 1 << 16 })
	body := func(n int) string { return `{"workflow_type":"` + strings.Repeat("x", n-20) + `"}` }
	w.post(runsOf, body(1<<16+1)).refused(413, "invalid_input", "BodyTooLarge")
	w.post(runsOf, body(1<<16)).refused(404, "not_found", "WorkflowTypeNotFound")
	w.get(runsOf+"?workflow_type="+strings.Repeat("x", 9000)).refused(414, "invalid_input", "URLTooLong")
}

func TestEveryAnswerHasItsHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, r := range []reply{w.get(runsOf), w.get(runsOf + "/x"), w.get("/api/v1/nothing")} {
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := r.header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if r.header.Get("X-Request-Id") == "" || r.header.Get("X-Aion-Build") == "" || r.header.Get("Server") != "" || r.header.Get("Set-Cookie") != "" {
			t.Errorf("headers %v", r.header)
		}
	}
	if got := w.get(runsOf, "X-Request-Id", "mine-1").header.Get("X-Request-Id"); got != "mine-1" {
		t.Errorf("the request id became %q", got)
	}
}

// server 10, server 11, report 67
func TestOnlyListedOriginsMayCall(t *testing.T) {
	t.Parallel()
	const page = "https://pages.example"
	w := newWorld(t, func(c *bootstrap.Config) { c.ServerCORSOrigins = []string{page} })
	for _, origin := range []string{"https://evil.example", "null", "https://pages.example.evil.example", "http://pages.example"} {
		w.get(runsOf, "Origin", origin).refused(403, "origin_denied", "OriginNotAllowed")
		if got := w.do(http.MethodOptions, runsOf, "", "Origin", origin, "Access-Control-Request-Method", "GET"); got.status != 403 || got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("a foreign preflight got %d %v", got.status, got.header)
		}
	}
	w.get(runsOf, "Origin", w.url).ok(http.StatusOK)
	shared := w.get(runsOf, "Origin", page).ok(http.StatusOK)
	if shared.header.Get("Access-Control-Allow-Origin") != page || !strings.Contains(shared.header.Get("Access-Control-Expose-Headers"), "ETag") ||
		!strings.Contains(strings.Join(shared.header.Values("Vary"), ","), "Origin") || shared.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("headers %v", shared.header)
	}
	preflight := w.do(http.MethodOptions, runsOf, "", "Origin", page, "Access-Control-Request-Method", "POST").ok(http.StatusNoContent)
	if !strings.Contains(preflight.header.Get("Access-Control-Allow-Methods"), "POST") || !strings.Contains(preflight.header.Get("Access-Control-Allow-Headers"), "Authorization") ||
		preflight.header.Get("Access-Control-Max-Age") != "600" || preflight.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("preflight %v", preflight.header)
	}
	w.do(http.MethodOptions, runsOf, "").refused(405, "invalid_input", "MethodNotAllowed")
}

// server 8, server 9
func TestACallerReachesTheirNamespacesAlone(t *testing.T) {
	t.Parallel()
	const token = "a-secret-of-the-test-0123456789"
	w := newWorld(t, func(c *bootstrap.Config) { c.AuthMode, c.AuthToken = "token", bootstrap.Secret(token) })
	w.get(runsOf).refused(401, "unauthenticated", "MissingCredential")
	if got := w.get(runsOf, "Authorization", "Bearer nonsense"); got.status != 401 || got.header.Get("WWW-Authenticate") == "" {
		t.Errorf("a wrong credential got %d %v", got.status, got.header)
	}
	mine := []string{"Authorization", "Bearer " + token, "X-Aion-Subject", "ada", "X-Aion-Namespaces", "mine"}
	w.get("/api/v1/namespaces/mine/runs", mine...).ok(http.StatusOK)
	w.get(runsOf, mine...).refused(403, "namespace_denied", "NamespaceNotGranted")
	w.get(runsOf+"/not-a-uuid", mine...).refused(403, "namespace_denied", "NamespaceNotGranted")
	w.do(http.MethodPost, "/api/v1/deployments", `{"source":"x"}`, mine...).refused(403, "deploy_denied", "DeployGrantMissing")
}

func TestATooFrequentCallerIsToldToWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	clock := fake.NewClock(time.Now())
	w.mount(httpapi.Options{Runs: w.app.Runs, Callers: named{}, Clock: clock, Limits: httpapi.Limits{RatePerSecond: 1, RateBurst: 2}})
	for range 2 {
		w.get(runsOf, "X-Aion-Subject", "ada").ok(http.StatusOK)
	}
	refused := w.get(runsOf, "X-Aion-Subject", "ada").refused(429, "resource_exhausted", "RateLimited")
	if refused.header.Get("Retry-After") != "2" {
		t.Errorf("Retry-After %q", refused.header.Get("Retry-After"))
	}
	w.get(runsOf, "X-Aion-Subject", "bob").ok(http.StatusOK)
	clock.Advance(time.Second)
	w.get(runsOf, "X-Aion-Subject", "ada").ok(http.StatusOK)
}

func TestLargeAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	small := w.get(runsOf, "Accept-Encoding", "gzip")
	large := w.get("/openapi.json", "Accept-Encoding", "gzip")
	plain := w.get("/openapi.json", "Accept-Encoding", "identity")
	if small.header.Get("Content-Encoding") != "" || large.header.Get("Content-Encoding") != "gzip" || plain.header.Get("Content-Encoding") != "" {
		t.Errorf("encodings %q, %q, %q", small.header.Get("Content-Encoding"), large.header.Get("Content-Encoding"), plain.header.Get("Content-Encoding"))
	}
	if len(large.body) >= len(plain.body) {
		t.Error("nothing was won")
	}
}
