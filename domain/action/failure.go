package action

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"aion/domain"
)

// The codes of failed attempts (actions 1.2, 2.2, 2.5, 6.2).
const (
	CodeInputNotJSON      = "input_not_json"
	CodeInputNotObject    = "input_not_object"
	CodeConfigInvalid     = "config_invalid"
	CodeBodiesOff         = "bodies_off"
	CodeAmbiguousBody     = "ambiguous_body"
	CodeBodyUnparsable    = "body_unparsable"
	CodeProgramNotAllowed = "program_not_allowed"
	CodeCancelPath        = "cancel_path"

	CodeArgumentUndeclared = "argument_undeclared"
	CodeValueAbsent        = "value_absent"
	CodeShapeMismatch      = "shape_mismatch"
	CodeLeadingDash        = "leading_dash"
	CodeNulInValue         = "nul_in_value"
	CodePathTraversal      = "path_traversal"
	CodeArgumentTooLarge   = "argument_too_large"
	CodeArgumentsTooLarge  = "arguments_too_large"

	CodeRootUnresolved  = "workspace_root_unresolved"
	CodeRootNotAbsolute = "workspace_root_not_absolute"
	CodeRootNotUTF8     = "workspace_root_not_utf8"
	CodeRootShape       = "workspace_root_shape"
	CodeRootCreation    = "workspace_root_creation"

	CodeExitNonzero       = "exit_nonzero"
	CodeExitSignal        = "exit_signal"
	CodeSpawnFailed       = "spawn_failed"
	CodeOutOfMemory       = "out_of_memory"
	CodeOutputNotJSON     = "output_not_json"
	CodeOutputTooLarge    = "output_too_large"
	CodeResultInvalid     = "result_invalid"
	CodeDeadlineExceeded  = "deadline_exceeded"
	CodeContainmentFailed = "containment_failed"
	CodeSupervisorLost    = "supervisor_lost"
	CodeServerDied        = "server_died"
	CodeLeaseExpired      = "lease_expired"
	CodeWorkerGone        = "worker_gone"
	CodeWorkerError       = "worker_error"
)

// The bounds of what a failure records (actions 6.3).
const (
	MaxMessage  = 8192
	MaxDetails  = 16 << 10
	stderrTail  = 4096
	stdoutTail  = 1024
	quotedValue = 64
)

// Details are the facts about a process that a failure keeps, as far as they are known; nil and zero members are left out.
type Details struct {
	ExitCode    *int   `json:"exit_code,omitempty"`
	Signal      int    `json:"signal,omitempty"`
	Line        int    `json:"line,omitempty"`
	Lines       int    `json:"lines,omitempty"`
	Program     string `json:"program,omitempty"`
	Errno       string `json:"errno,omitempty"`
	StderrBytes *int64 `json:"stderr_bytes,omitempty"`
	StdoutBytes *int64 `json:"stdout_bytes,omitempty"`
	Cut         bool   `json:"cut,omitempty"`
	BoundMS     int64  `json:"bound_ms,omitempty"`
}

// Fail builds a failure inside the bounds of what is recorded. details may be nil.
func Fail(class Class, code, message string, details *Details) Failed {
	f := Failed{Class: class, Code: code, Message: BoundMessage(message)}
	if details == nil {
		return f
	}
	return f.With(*details)
}

// With gives a failure its details, inside their bound.
func (f Failed) With(d Details) Failed {
	d.Program = domain.Quote(d.Program, 1024)
	if raw, err := json.Marshal(d); err == nil && len(raw) <= MaxDetails && string(raw) != "{}" {
		f.Details = raw
	}
	return f
}

func terminal(code, format string, args ...any) *Failed {
	f := Fail(Terminal, code, fmt.Sprintf(format, args...), nil)
	return &f
}

// BoundMessage makes a message of at most MaxMessage bytes of valid UTF-8. What does not fit is cut in front and counted.
func BoundMessage(message string) string {
	message = Repair([]byte(message))
	if len(message) <= MaxMessage {
		return message
	}
	const room = 48 // more than the longest note
	cut := len(message) - (MaxMessage - room)
	for cut < len(message) && !utf8.RuneStart(message[cut]) {
		cut++
	}
	return omitted(int64(cut)) + message[cut:]
}

func omitted(n int64) string { return fmt.Sprintf("[… %d bytes omitted]", n) }

// Exit is one process of a body and how it ended, as far as that is known.
type Exit struct {
	Ended   bool // it was started and has exited; Code and Signal mean nothing before
	Code    int  // 128+n for signal n
	Signal  int  // 0: it exited by itself
	Command string
	Program string
	Line    int     // from 1
	Lines   int     // of the command
	Stdout  *Output // nil: not kept
	Stderr  *Output
	// StdoutFrom and StderrFrom are the totals at which this line began.
	StdoutFrom int64
	StderrFrom int64
}

// Details are what is known of the process, for a failure that is about it.
func (e Exit) Details() Details {
	d := Details{Program: e.Program}
	if e.Ended {
		d.ExitCode, d.Signal = &e.Code, e.Signal
	}
	if e.Command != "" {
		d.Line, d.Lines = e.Line, e.Lines
	}
	if e.Stdout != nil && e.Stderr != nil {
		stdout, stderr := e.Stdout.Total(), e.Stderr.Total()
		d.StdoutBytes, d.StderrBytes, d.Cut = &stdout, &stderr, e.Stdout.Cut() || e.Stderr.Cut()
	}
	return d
}

// Place names the line of a command for the beginning of a message; empty for a `run` body, which has one.
func (e Exit) Place() string {
	if e.Command == "" {
		return ""
	}
	return fmt.Sprintf("command `%s` line %d of %d", e.Command, e.Line, e.Lines)
}

// ExitFailure is the failure of a process that did not exit 0 (actions 6.2, 6.3).
func ExitFailure(e Exit) Failed {
	code := CodeExitNonzero
	if e.Signal != 0 {
		code = CodeExitSignal
	}
	var b strings.Builder
	if at := e.Place(); at != "" {
		fmt.Fprintf(&b, "%s (`%s`) ", at, domain.Quote(e.Program, quotedValue))
	}
	fmt.Fprintf(&b, "exited with code %d", e.Code)
	if e.Signal != 0 {
		fmt.Fprintf(&b, " (signal %d)", e.Signal)
	}
	if text := e.Stderr.ending(stderrTail, e.StderrFrom); text != "" {
		b.WriteString(": " + text)
	} else if text := e.Stdout.ending(stdoutTail, e.StdoutFrom); text != "" {
		b.WriteString(": stdout: " + text)
	}
	return Fail(Retryable, code, b.String(), nil).With(e.Details())
}

// OutOfMemory is the failure of a command that the kernel ended because it would have passed its memory limit.
func OutOfMemory(e Exit, limit int64) Failed {
	return Fail(Retryable, CodeOutOfMemory, fmt.Sprintf("the command needed more memory than `actions.limits.memory_bytes` (%d) allows: %s",
		limit, ExitFailure(e).Message), nil).With(e.Details())
}

// DeadlineFailure is the failure of an attempt that outlived its authored bound in a process (actions 5.1).
func DeadlineFailure(bound time.Duration, e Exit) Failed {
	d := e.Details()
	d.BoundMS = bound.Milliseconds()
	return Fail(Timeout, CodeDeadlineExceeded, fmt.Sprintf("the attempt exceeded its authored bound of %s", bound), &d)
}

// BodiesOff is the refusal of a server that may not run declared bodies (actions 10).
func BodiesOff(name, queue string) Failed {
	return Fail(PolicyRefused, CodeBodiesOff, fmt.Sprintf(
		"action `%s` of task queue `%s` has a declared body, and `actions.declared_bodies` is `off` on this server; "+
			"set it to `on`, or to `delegate` and serve the queue with a worker", name, queue), nil)
}

// ProgramNotAllowed is the refusal of a program that the operator did not admit (actions 10).
func ProgramNotAllowed(program string) Failed {
	return Fail(PolicyRefused, CodeProgramNotAllowed, fmt.Sprintf(
		"program `%s` is not admitted by `actions.allowed_programs`; add it there, or use an admitted program",
		domain.Quote(program, quotedValue)), nil)
}

// ConfigFailure refuses a dispatch whose bounds are malformed; nil when they are well formed (actions 1.1).
func (c Config) ConfigFailure() *Failed {
	if c.TimeoutMS < 0 {
		return terminal(CodeConfigInvalid, "timeout_ms is %d; it must be above 0, or absent", c.TimeoutMS)
	}
	if c.Retry == nil {
		return nil
	}
	r, b := *c.Retry, c.Retry.Backoff
	if r.MaxAttempts < 1 {
		return terminal(CodeConfigInvalid, "retry.max_attempts is %d; it must be at least 1", r.MaxAttempts)
	}
	switch b.Kind {
	case BackoffFixed:
		if b.DelayMS < 0 {
			return terminal(CodeConfigInvalid, "retry.backoff.delay_ms is %d; it must not be negative", b.DelayMS)
		}
	case BackoffExponential:
		if b.InitialMS < 0 || b.MaxMS < b.InitialMS || !(b.Multiplier >= 1) {
			return terminal(CodeConfigInvalid, "retry.backoff (initial_ms %d, multiplier %g, max_ms %d) does not rise; "+
				"it needs 0 <= initial_ms <= max_ms and a multiplier of at least 1", b.InitialMS, b.Multiplier, b.MaxMS)
		}
	default:
		return terminal(CodeConfigInvalid, "retry.backoff.kind is %q; it must be `fixed` or `exponential`",
			domain.Quote(b.Kind, quotedValue))
	}
	return nil
}
