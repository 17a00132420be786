package domain

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Code is the wire word of a refusal. The set is closed: programs branch on it.
type Code string

// The codes of refusals, the same on every surface.
const (
	CodeUnauthenticated     Code = "unauthenticated"
	CodeNamespaceDenied     Code = "namespace_denied"
	CodeDeployDenied        Code = "deploy_denied"
	CodeWorkerDenied        Code = "worker_denied"
	CodeOriginDenied        Code = "origin_denied"
	CodeInsufficientScope   Code = "insufficient_scope"
	CodeNotFound            Code = "not_found"
	CodeInvalidInput        Code = "invalid_input"
	CodeInvalidState        Code = "invalid_state"
	CodeNotRunning          Code = "not_running"
	CodeUnknownQuery        Code = "unknown_query"
	CodeQueryTimeout        Code = "query_timeout"
	CodeQueryFailed         Code = "query_failed"
	CodeRunFailed           Code = "run_failed"
	CodeIdempotencyConflict Code = "idempotency_conflict"
	CodeVersionPinned       Code = "version_pinned"
	CodeSequenceConflict    Code = "sequence_conflict"
	CodeNotConfigured       Code = "not_configured"
	CodeResourceExhausted   Code = "resource_exhausted"
	CodeUnavailable         Code = "unavailable"
	CodeStoreLocked         Code = "store_locked"
	CodeBackend             Code = "backend"
)

// Error is a refusal: an error that a caller is meant to read. Message says what was wrong, with which value, and what
// to do next; it never holds a stack, SQL, a secret or a path outside the workspace. Err is the cause for the log.
type Error struct {
	Code    Code
	Type    string // the one refusal, such as RevisionMismatch
	Message string
	Details map[string]any // fixed members per Type; nil when there is nothing
	Err     error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s (%s): %s: %v", e.Code, e.Type, e.Message, e.Err)
	}
	return fmt.Sprintf("%s (%s): %s", e.Code, e.Type, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// CodeOf gives the code of a refusal anywhere in the chain of err, and CodeBackend for any other error.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeBackend
}

// TypeOf gives the type of a refusal anywhere in the chain of err, and nothing for any other error.
func TypeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Type
	}
	return ""
}

// Unavailable says that the call may be repeated later; typ is ShuttingDown, StoreUnavailable, StoreReadOnly or DeadlineExceeded.
func Unavailable(typ, message string, cause error) error {
	return &Error{Code: CodeUnavailable, Type: typ, Message: message, Err: cause}
}

// SequenceConflict says that a commit did not follow its workflow's head.
func SequenceConflict(id WorkflowID, expected int64) error {
	return &Error{
		Code: CodeSequenceConflict, Type: "SequenceConflict",
		Message: fmt.Sprintf("workflow %s has moved on from event %d; repeat the call", id, expected),
	}
}

// NamespaceNotFound refuses a namespace that does not exist or has no possible name.
func NamespaceNotFound(name string) error {
	return &Error{
		Code: CodeNotFound, Type: "NamespaceNotFound",
		Message: fmt.Sprintf("no namespace %q; ask your operator which namespace to use", Quote(name, 128)),
	}
}

// Quote cuts a foreign value to at most n characters of valid UTF-8, for use in a message.
func Quote(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n]) + "…"
}

// Payload is one JSON value as text. The zero Payload means "absent".
type Payload = json.RawMessage
