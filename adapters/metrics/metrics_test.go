package metrics_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"aion/adapters/metrics"
	"aion/domain/task"
)

func read(t *testing.T, r *metrics.Registry) (string, int) {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	return w.Body.String(), w.Code
}

func TestWhatWasCountedIsShownAsText(t *testing.T) {
	t.Parallel()
	r := metrics.New()
	r.WatchTasks(func(context.Context) (map[task.State]int, error) {
		return map[task.State]int{task.Working: 3, task.Completed: 2}, nil
	})
	r.MCPRequest("tools/call", "ok")
	r.MCPRequest("tools/call", "ok")
	r.MCPRequest("none", "-32700")
	r.MCPToolCall("cancel", "not_running", 3*time.Millisecond)
	text, status := read(t, r)
	for _, want := range []string{
		`aion_mcp_requests_total{code="ok",method="tools/call"} 2`, `aion_mcp_requests_total{code="-32700",method="none"} 1`,
		`aion_mcp_tool_calls_total{code="not_running",tool="cancel"} 1`, `aion_mcp_tool_seconds_bucket{tool="cancel",le="0.005"} 1`,
		`aion_mcp_tasks{status="working"} 3`, `aion_mcp_tasks{status="failed"} 0`, "go_goroutines",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if status != 200 {
		t.Errorf("status %d", status)
	}
}

func TestStoreThatIsAwayHidesNoOtherMetric(t *testing.T) {
	t.Parallel()
	r := metrics.New()
	r.WatchTasks(func(context.Context) (map[task.State]int, error) { return nil, errors.New("away") })
	r.MCPRequest("tools/list", "ok")
	if text, status := read(t, r); status != 200 || strings.Contains(text, "aion_mcp_tasks{") || !strings.Contains(text, "aion_mcp_requests_total{") {
		t.Errorf("status %d: %.200s", status, text)
	}
}
