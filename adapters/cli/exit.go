package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"

	"aion/adapters/cli/client"
	"aion/domain"
)

// Exit codes.
const (
	exitDone    = 0
	exitNo      = 1 // done, and the answer is no
	exitRefused = 2
	exitFailed  = 3 // could not: store, server, fault
	exitTimeout = 4 // --timeout passed; the run goes on

	exitInterrupted = 130 // by SIGINT; 143 by SIGTERM
)

// status ends a command with an exit code and nothing more to say.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// usage is a wrong command line.
type usage struct{ message, hint string }

func (u *usage) Error() string { return u.message }

// UncleanError is the end of a server that could not keep all that it should have kept.
type UncleanError struct{ Err error }

func (u *UncleanError) Error() string { return u.Err.Error() }

// Unwrap gives what was not kept.
func (u *UncleanError) Unwrap() error { return u.Err }

// report prints what stopped a command and answers its exit code.
func report(w io.Writer, err error) int {
	var code status
	var wrong *usage
	var refused *domain.Error
	var unclean *UncleanError
	var answered *client.RefusedError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &unclean):
		report(w, unclean.Err)
		return exitNo
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, syscall.EPIPE):
		return exitDone
	case errors.As(err, &wrong):
		printError(w, "usage", wrong.message, wrong.hint)
		return exitRefused
	case errors.As(err, &answered):
		return printAnswer(w, answered)
	case errors.As(err, &refused):
		return printRefusal(w, refused)
	case errors.Is(err, context.Canceled), errors.Is(err, errInterrupted):
		return exitInterrupted
	}
	printError(w, string(domain.CodeBackend), err.Error(), "") // nobody expected it: no fault of the command line
	return exitFailed
}

// printAnswer prints the refusal of a server and answers its exit code: what the request could change is refused, the rest
// could not be done.
func printAnswer(w io.Writer, e *client.RefusedError) int {
	printError(w, string(e.Refusal.Code), e.Refusal.Message, "")
	fmt.Fprintf(w, "%s · request %s\n", printable(e.Refusal.Type), printable(e.RequestID))
	if e.Status == http.StatusTooManyRequests || e.Status >= 500 {
		return exitFailed
	}
	return exitRefused
}

// printRefusal prints a refusal and answers its exit code. The cause of a fault is shown, because whoever owns the store reads it
// here and a command keeps no log.
func printRefusal(w io.Writer, e *domain.Error) int {
	printError(w, string(e.Code), e.Message, "")
	if e.Code == domain.CodeBackend && e.Err != nil {
		fmt.Fprintf(w, "  cause: %s\n", printable(e.Err.Error()))
	}
	if e.Type != "" {
		fmt.Fprintf(w, "%s\n", e.Type)
	}
	switch e.Code {
	case domain.CodeUnavailable, domain.CodeStoreLocked, domain.CodeBackend, domain.CodeResourceExhausted, domain.CodeNotConfigured,
		domain.CodeQueryTimeout:
		return exitFailed
	default:
		return exitRefused
	}
}

func printError(w io.Writer, code, message, hint string) {
	lines := strings.Split(strings.TrimRight(message, "\n"), "\n")
	for _, line := range lines {
		fmt.Fprintf(w, "error[%s]: %s\n", code, printable(line))
	}
	if hint != "" {
		fmt.Fprintf(w, "  hint: %s\n", hint)
	}
}

// printable escapes control characters, so that foreign text cannot move the cursor or change colours.
func printable(s string) string {
	if !strings.ContainsFunc(s, control) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if control(r) {
			fmt.Fprintf(&b, `\x%02x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func control(r rune) bool { return r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0) }
