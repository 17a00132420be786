package domain

import (
	"crypto/sha1" //nolint:gosec // UUID version 5 is defined over SHA-1 (RFC 9562, 5.5); nothing here is a secret
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
)

// WorkflowID names one durable workflow: a UUID in lower case.
type WorkflowID string

// Shards is the number of parts into which the workflows fall for servers that share a store.
const Shards = 64

// Shard is the part that a workflow belongs to, from 0 to Shards-1: its id hashed by FNV-1a. It is stored, so it never changes.
func (id WorkflowID) Shard() int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return int(h.Sum32() % Shards)
}

// RunID names one generation of a workflow: a UUID in lower case.
type RunID string

// Namespace is the tenant boundary; every workflow belongs to exactly one.
type Namespace string

// AttemptKey names one try of one activity, everywhere. Activity ordinals start again in every run, so the run is part of it.
type AttemptKey struct {
	WorkflowID WorkflowID
	RunID      RunID
	ActivityID int64
	Attempt    int
}

// String is `<workflow_id>/<run_id>/<activity_id>/<attempt>`.
func (k AttemptKey) String() string {
	return fmt.Sprintf("%s/%s/%d/%d", k.WorkflowID, k.RunID, k.ActivityID, k.Attempt)
}

// ActivityKey is the same text for all attempts of one activity; authors dedupe on it.
func (k AttemptKey) ActivityKey() string {
	return fmt.Sprintf("%s/%s/%d", k.WorkflowID, k.RunID, k.ActivityID)
}

// ParseWorkflowID accepts 8-4-4-4-12 hex digits of any UUID version, in either case.
func ParseWorkflowID(s string) (WorkflowID, error) {
	id, err := parseUUID("workflow_id", s)
	return WorkflowID(id), err
}

// ParseRunID accepts 8-4-4-4-12 hex digits of any UUID version, in either case.
func ParseRunID(s string) (RunID, error) {
	id, err := parseUUID("run_id", s)
	return RunID(id), err
}

var namespaceShape = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// ParseNamespace accepts a possible namespace name: `[a-z0-9][a-z0-9._-]{0,62}`.
func ParseNamespace(s string) (Namespace, error) {
	if !namespaceShape.MatchString(s) {
		return "", NamespaceNotFound(s)
	}
	return Namespace(s), nil
}

// DeriveUUID is the UUID version 5 of a name within a parent UUID (RFC 9562, 5.5). The parent must be a parsed UUID.
func DeriveUUID(parent, name string) string {
	space, err := hex.DecodeString(strings.ReplaceAll(parent, "-", ""))
	if err != nil || len(space) != 16 {
		panic("domain: derive from something that is no UUID: " + parent)
	}
	h := sha1.New() //nolint:gosec // see the import
	h.Write(space)
	h.Write([]byte(name))
	var u [16]byte
	copy(u[:], h.Sum(nil))
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

var uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

func parseUUID(what, s string) (string, error) {
	if !uuidShape.MatchString(s) {
		return "", &Error{
			Code: CodeInvalidInput, Type: "SchemaViolation",
			Message: fmt.Sprintf("%s %q is not a UUID; pass one that an earlier answer gave, unchanged", what, Quote(s, 64)),
		}
	}
	return strings.ToLower(s), nil
}
