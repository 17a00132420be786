package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

// server 42: requests are counted by the pattern of their route, whatever clients send.
func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(gate)
	run := w.start("gate", `{"n":1}`)
	w.get(run).ok(200)
	w.post(run+"/cancel", "").ok(200)
	w.stream(run + "/history/stream")
	w.get("/api/v1/no/such/path").refused(http.StatusNotFound, "not_found", "RouteNotFound")
	text := string(w.get("/metrics").ok(200).body)
	for _, line := range []string{
		`aion_http_requests_total{method="GET",route="/api/v1/namespaces/:ns/runs/:wid",status="200"} 1`,
		`aion_http_requests_total{method="POST",route="/api/v1/namespaces/:ns/runs/:wid/cancel",status="200"} 1`,
		`aion_http_requests_total{method="GET",route="/api/v1/namespaces/:ns/runs/:wid/history/stream",status="200"} 1`,
		`aion_http_requests_total{method="GET",route="none",status="404"} 1`,
		`aion_http_request_seconds_count{method="POST",route="/api/v1/namespaces/:ns/runs/:wid/cancel"} 1`,
		`aion_http_in_flight 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is not among the metrics", line)
		}
	}
	if id := strings.TrimPrefix(run, runsOf+"/"); strings.Contains(text, id) || strings.Contains(text, `aion_http_request_seconds_count{method="GET",route="/api/v1/namespaces/:ns/runs/:wid/history/stream"`) {
		t.Error("an id is a label, or a stream has a time")
	}
}
