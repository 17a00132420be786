package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"aion/adapters/metrics"
	"aion/domain/action"
	"aion/domain/schedule"
	"aion/domain/task"
	"aion/ports"
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

func sources(queues func(context.Context, time.Time) ([]ports.QueueDepth, error)) metrics.Sources {
	return metrics.Sources{
		Leases: func() metrics.Leases {
			return metrics.Leases{Open: map[string]int{"held": 11, "ending": 12}, Expired: 13}
		},
		Running: func() int { return 4 }, Now: func() time.Time { return time.Unix(100, 0) }, Queues: queues,
		Processes: func() metrics.Processes {
			return metrics.Processes{Idle: 1, Busy: 2, Stuck: 3, Escaped: 5, ContainmentFailures: 6}
		},
		Transcripts: func() metrics.Transcripts { return metrics.Transcripts{Stored: 7, Dropped: 8, Queued: 9} },
	}
}

// actions 11
func TestAttemptsAndQueuesAreShown(t *testing.T) {
	t.Parallel()
	r := metrics.New()
	depths := []ports.QueueDepth{{Namespace: "acme", TaskQueue: "shell", Tasks: 2, Oldest: time.Unix(70, 0)}}
	for range 600 { // more queues than there may be series
		depths = append(depths, ports.QueueDepth{Namespace: "flood", TaskQueue: fmt.Sprint("q\xff", len(depths)), Tasks: 1, Oldest: time.Unix(90, 0)})
	}
	r.WatchActions(sources(func(context.Context, time.Time) ([]ports.QueueDepth, error) { return depths, nil }))
	r.AttemptEnded(ports.EndClass(action.Lost), 0)
	r.AttemptEnded(ports.EndCompleted, 3*time.Second)
	r.ScheduleFired(schedule.Fired)
	r.ScheduleFired(schedule.Missed)
	r.ScheduleLag(30 * time.Millisecond)
	r.Spawned(2 * time.Millisecond)
	text, status := read(t, r)
	for _, want := range []string{
		`aion_attempts_running{executor="server"} 4`, `aion_attempts_total{class="lost"} 1`, `aion_schedule_fires_total{action="fired"} 1`, `aion_schedule_fires_total{action="missed"} 1`,
		`aion_schedule_fires_total{action="skipped"} 0`, `aion_schedule_lag_seconds_sum 0.03`, `aion_attempts_total{class="completed"} 1`,
		`aion_attempts_total{class="policy_refused"} 0`, `aion_attempt_seconds_sum 3`, `aion_attempt_seconds_count 1`, `aion_spawn_seconds_sum 0.002`,
		`aion_leases{state="held"} 11`, `aion_leases{state="ending"} 12`, `aion_lease_expired_total 13`, `aion_attempts_running{executor="worker"} 23`, `aion_supervisors{state="idle"} 1`, `aion_supervisors{state="busy"} 2`, `aion_supervisors{state="stuck"} 3`, `aion_escaped_processes_total 5`,
		`aion_containment_failures_total 6`, `aion_transcript_events_total 7`, `aion_transcript_dropped_total 8`, `aion_transcript_queue_events 9`,
		`aion_queue_depth{namespace="acme",task_queue="shell"} 2`, `aion_queue_depth{namespace="",task_queue="other"} 101`, `aion_queue_oldest_seconds 30`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if n := strings.Count(text, "aion_queue_depth{"); status != 200 || n != 501 {
		t.Errorf("status %d, %d series of queues", status, n)
	}
}

func TestQueuesThatCannotBeCountedHideNothingElse(t *testing.T) {
	t.Parallel()
	r := metrics.New()
	r.WatchActions(sources(func(context.Context, time.Time) ([]ports.QueueDepth, error) { return nil, errors.New("away") }))
	if text, status := read(t, r); status != 200 || strings.Contains(text, "aion_queue_") || !strings.Contains(text, "aion_attempts_running{") {
		t.Errorf("status %d: %.200s", status, text)
	}
}
