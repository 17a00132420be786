package ports

import (
	"context"
	"time"
)

// AuditLog keeps what was changed, by whom and with which end. Records are only ever added.
type AuditLog interface {
	// Audit adds a record; it is durable when the call returns.
	Audit(ctx context.Context, r AuditRecord) error
	// AuditRecords returns at most limit records with a number over after, oldest first.
	AuditRecords(ctx context.Context, after int64, limit int) ([]AuditRecord, error)
}

// AuditRecord is one attempt to change something. It never holds payloads, texts or credentials.
type AuditRecord struct {
	N         int64 // numbered by the store, from 1, in the order of adding; ignored when a record is added
	At        time.Time
	Subject   string
	Mode      string // of authentication
	Source    string // of the grants
	Surface   string // mcp
	Action    string // the tool or method
	Namespace string // empty: outside namespaces
	Target    string // workflow id, workflow type, document path or task id
	Outcome   string // ok, or the code of the refusal
	RequestID string
}
