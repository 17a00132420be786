package worker

import (
	"encoding/json"
	"slices"
	"time"

	"aion/domain"
)

// Worker is a registered worker. It is replaced as a whole, never changed.
type Worker struct {
	ID         string
	Owner      string // whose calls may name it
	InstanceID string // its own name for this life of it; one owner has one worker of an instance
	Settings
	Draining     bool
	RegisteredAt time.Time
	SeenAt       time.Time
}

// Settings are what a registration says.
type Settings struct {
	Identity       string             `json:"identity"`
	Namespaces     []domain.Namespace `json:"namespaces"`
	TaskQueue      string             `json:"task_queue"`
	Node           string             `json:"node,omitempty"`
	PinnedOnly     bool               `json:"pinned_only,omitempty"`
	MaxConcurrency int                `json:"max_concurrency"`
	SDK            string             `json:"sdk,omitempty"`
	Actions        []Action           `json:"actions"`
}

// Action is one that a worker serves. Without schemas its contract is not compared.
type Action struct {
	Name         string          `json:"name"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
}

// State of a worker.
type State string

// The states. A gone worker has made no call for three heartbeat intervals.
const (
	Live     State = "live"
	Draining State = "draining"
	Gone     State = "gone"
)

// missed is how many heartbeats a worker may miss.
const missed = 3

// GoneBefore is the time before which the last call of a gone worker was.
func GoneBefore(now time.Time, heartbeat time.Duration) time.Time {
	return now.Add(-missed * heartbeat)
}

// StateAt is how a worker stands.
func (w Worker) StateAt(now time.Time, heartbeat time.Duration) State {
	switch {
	case w.SeenAt.Before(GoneBefore(now, heartbeat)):
		return Gone
	case w.Draining:
		return Draining
	}
	return Live
}

// Action gives a served action; nil: the worker has not registered it.
func (w Worker) Action(name string) *Action {
	i := slices.IndexFunc(w.Actions, func(a Action) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &w.Actions[i]
}

// Serves reports whether a worker serves a namespace.
func (w Worker) Serves(ns domain.Namespace) bool { return slices.Contains(w.Namespaces, ns) }

// Takes reports whether a task that is pinned to a node, or to none, may go to this worker (actions 8.1).
func (w Worker) Takes(node string) bool {
	if node == "" {
		return !w.PinnedOnly
	}
	return w.Node == node
}

// ActionNames are the served actions, in the order of the registration.
func (w Worker) ActionNames() []string {
	names := make([]string, 0, len(w.Actions))
	for _, a := range w.Actions {
		names = append(names, a.Name)
	}
	return names
}
