package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"aion/domain"
)

const (
	healthPeriod = time.Second
	// probeTimeout bounds one look at one part; a part that does not answer in it is not ready.
	probeTimeout = 2 * time.Second
	// aliveWithin is how old the last tick of a living process may be.
	aliveWithin = 10 * time.Second
)

// Check is one condition of readiness. Probe gives nil when it holds; it is called about once a second, never twice at
// once, and its text is shown to whoever asks. Note, when there is one, is shown while it holds: what an operator should
// know and a load balancer should not act on. It must not wait.
type Check struct {
	Name  string
	Probe func(ctx context.Context) error
	Note  func() string
}

// Health answers the probes from what it saw last, so that an answer never waits for a part of the server.
type Health struct {
	checks []Check

	mu      sync.Mutex
	tick    time.Time
	started bool // every check has held once
	ending  bool
	results []error
}

// NewHealth makes the probes. Until every check was looked at the server is alive and not ready.
func NewHealth(checks ...Check) *Health {
	h := &Health{checks: checks, results: make([]error, len(checks)), tick: time.Now(), started: len(checks) == 0}
	for i := range h.results {
		h.results[i] = domain.Unavailable("Starting", "not looked at yet", nil)
	}
	return h
}

// watch looks at every check once a second until ctx ends. alive, unless nil, is called at every tick of liveness.
func (h *Health) watch(ctx context.Context, alive func()) {
	var group sync.WaitGroup
	defer group.Wait()
	for i, check := range h.checks {
		group.Go(func() { every(ctx, func() { h.look(ctx, i, check) }) })
	}
	every(ctx, func() {
		h.mu.Lock()
		h.tick = time.Now()
		h.mu.Unlock()
		if alive != nil {
			alive()
		}
	})
}

func every(ctx context.Context, do func()) {
	tick := time.NewTicker(healthPeriod)
	defer tick.Stop()
	for {
		do()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (h *Health) look(ctx context.Context, i int, check Check) {
	bounded, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := check.Probe(bounded)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.results[i] = err
	h.started = h.started || h.allHold()
}

func (h *Health) allHold() bool {
	for _, err := range h.results {
		if err != nil {
			return false
		}
	}
	return true
}

func (h *Health) mount(router gin.IRouter, details func(*http.Request) bool) {
	probes := map[string]func() (bool, []healthCheck){
		"/health/live": h.live, "/health/startup": h.startup, "/health/ready": h.ready,
	}
	for path, probe := range probes {
		serve := func(c *gin.Context) { writeHealth(c.Writer, probe, details == nil || details(c.Request)) }
		router.GET(path, serve)
		router.HEAD(path, serve)
	}
}

// Ready reports whether the readiness probe answers 200.
func (h *Health) Ready() bool {
	ok, _ := h.ready()
	return ok
}

// end makes the server unready for good.
func (h *Health) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ending = true
}

func (h *Health) live() (bool, []healthCheck) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Since(h.tick) < aliveWithin, nil
}

func (h *Health) startup() (bool, []healthCheck) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.started, nil
}

func (h *Health) ready() (bool, []healthCheck) {
	h.mu.Lock()
	defer h.mu.Unlock()
	shown := make([]healthCheck, len(h.checks), len(h.checks)+1)
	for i, check := range h.checks {
		shown[i] = healthCheck{Name: check.Name, Status: "pass"}
		if err := h.results[i]; err != nil {
			shown[i].Status, shown[i].Detail = "fail", domain.Quote(reason(err), 200)
		} else if check.Note != nil {
			shown[i].Detail = domain.Quote(check.Note(), 200)
		}
	}
	if h.ending {
		shown = append(shown, healthCheck{Name: "server", Status: "fail", Detail: "the server is shutting down"})
	}
	return h.allHold() && !h.ending, shown
}

// reason is what a refusal says; its cause is for the log.
func reason(err error) string {
	var refused *domain.Error
	if errors.As(err, &refused) {
		return refused.Message
	}
	return err.Error()
}

type healthCheck struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Detail string `json:"detail"`
}

type healthAnswer struct {
	Status string        `json:"status"`
	Checks []healthCheck `json:"checks,omitzero"`
}

func writeHealth(w http.ResponseWriter, probe func() (bool, []healthCheck), details bool) {
	ok, checks := probe()
	answer, status := healthAnswer{Status: "pass", Checks: checks}, http.StatusOK
	if !ok {
		answer.Status, status = "fail", http.StatusServiceUnavailable
	}
	switch {
	case !details:
		answer.Checks = nil
	case checks == nil:
		answer.Checks = []healthCheck{}
	}
	body, err := json.Marshal(answer)
	if err != nil {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a prober that left is not told
}
