// Package action holds how one attempt of an activity is described and judged: the dispatch, the declared bodies, words
// and their rendering, captures, failure classes, retry arithmetic and body selection. It reads no clock and does no I/O.
package action

import (
	"encoding/json"

	"aion/domain"
)

// Body is a declared body inside a plan: exactly one member is set.
type Body struct {
	Run     *RunBody     `json:"run,omitempty"`
	Command *CommandBody `json:"command,omitempty"`
}

// RunBody is `run "…"`: the authored text, split again by the same function when it is dispatched.
type RunBody struct {
	Command string  `json:"command"`
	Capture Capture `json:"capture"`
}

// CommandBody is `runs command NAME`.
type CommandBody struct {
	Capture Capture `json:"capture"`
	Command Recipe  `json:"command"`
}

// Recipe is a command, split once, at compile time.
type Recipe struct {
	Name   string      `json:"name"`
	Cwd    []Piece     `json:"cwd,omitempty"`
	Env    []EnvVar    `json:"env,omitempty"`
	Params []Parameter `json:"params,omitempty"`
	Lines  [][]Word    `json:"lines"`
}

// EnvVar is one exported variable; its value may hold `{workspace_root}`.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Parameter kinds are "one", "list" and "list1" (at least one value).
type Parameter struct {
	Name    string  `json:"name"`
	Kind    string  `json:"kind"`
	Default *string `json:"default,omitempty"`
}

// Word is one argument: its pieces in order.
type Word struct {
	Pieces []Piece `json:"pieces"`
}

// Piece is literal text, a hole, or the workspace root: exactly one member is set.
type Piece struct {
	Lit  *string `json:"lit,omitempty"`
	Hole string  `json:"hole,omitempty"`
	Root bool    `json:"root,omitempty"`
	// Offset is the byte at which the piece begins in the text that was split. It is for findings only: a plan does not
	// keep it (Plain).
	Offset int `json:"-"`
}

// Capture is what a body's output becomes.
type Capture string

// The captures.
const (
	CaptureOutcome Capture = "outcome"
	CaptureText    Capture = "text"
	CaptureLines   Capture = "lines"
	CaptureJSON    Capture = "json"
)

// Dispatch is one attempt of one activity, on its way to an executor.
type Dispatch struct {
	Namespace domain.Namespace
	TaskQueue string
	Node      string
	Key       domain.AttemptKey
	Name      string          // the action
	Input     json.RawMessage // exactly the bytes recorded in ActivityScheduled.input
	Config    Config
	Labels    map[string]string // display only
}

// Config bounds an attempt. The zero Config means one attempt, no bound.
type Config struct {
	TimeoutMS int64  `json:"timeout_ms,omitempty"`
	Retry     *Retry `json:"retry,omitempty"`
}

// Param is one declared parameter as the renderer needs it. Kind is scalar, list or other (a record has no argument form).
type Param struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Optional bool   `json:"optional,omitempty"`
}

// Retry is the policy as it is recorded in ActivityScheduled. MaxAttempts is at least 1.
type Retry struct {
	MaxAttempts int     `json:"max_attempts"`
	Backoff     Backoff `json:"backoff"`
}

// Backoff is "fixed" (DelayMS) or "exponential" (InitialMS, Multiplier, MaxMS).
type Backoff struct {
	Kind       string  `json:"kind"`
	DelayMS    int64   `json:"delay_ms,omitempty"`
	InitialMS  int64   `json:"initial_ms,omitempty"`
	Multiplier float64 `json:"multiplier,omitempty"`
	MaxMS      int64   `json:"max_ms,omitempty"`
}

// Class of a failed attempt.
type Class string

// The classes. Retryable and timeout are tried again by policy, lost outside of it, the others never.
const (
	Retryable     Class = "retryable"
	Terminal      Class = "terminal"
	PolicyRefused Class = "policy_refused"
	Timeout       Class = "timeout"
	Lost          Class = "lost"
)

// Verdict is the one end of an attempt: a closed set.
//
//sumtype:decl
type Verdict interface{ verdict() }

// Completed carries the encoded JSON result.
type Completed struct{ Result json.RawMessage }

// Failed carries what ActivityFailed records.
type Failed struct { //nolint:errname // a verdict, which also reads as an error
	Class   Class
	Code    string
	Message string          // at most 8,192 bytes of valid UTF-8
	Details json.RawMessage // an object of at most 16 KiB, or nil
}

// Parked means: not started, or stopped by a drain; nothing is recorded and the same attempt is dispatched again later.
type Parked struct{}

// Dropped means: the run is closed or the activity cancelled; its end is already in history.
type Dropped struct{}

func (Completed) verdict() {}
func (Failed) verdict()    {}
func (Parked) verdict()    {}
func (Dropped) verdict()   {}

// Error is the text form of a failure: `<class>:<message>`.
func (f Failed) Error() string { return string(f.Class) + ":" + f.Message }

// String is the text form of a parked attempt.
func (Parked) String() string { return "parked:server-draining" }
