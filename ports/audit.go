package ports

import (
	"context"

	"aion/domain"
)

// AuditLog keeps what was changed, by whom and with which end (server 5.9). Records are only ever added, each behind the
// last one of its chain. The other ports take the record of a change with the change (history.Commit and others) and
// write both or neither.
type AuditLog interface {
	// BeginAudit starts the chain of this process: first is its first record, and all that follow belong to it. The detail
	// of the first one names the heads of all chains that were added to since another one began, as {"heads": [...]}.
	BeginAudit(ctx context.Context, chain string, first domain.AuditRecord) error
	// Audit adds a record; it is durable when the call returns.
	Audit(ctx context.Context, r domain.AuditRecord) error
	// AuditRecords returns at most limit records whose Seq is over after, in the order of adding.
	AuditRecords(ctx context.Context, after int64, limit int) ([]domain.AuditRecord, error)
	// AuditHeads returns the last record of each chain that was added to since the last one began, by chain.
	AuditHeads(ctx context.Context) ([]domain.AuditHead, error)
}

// AuditRetention removes records whose retention is over. Nothing else ever does.
type AuditRetention interface {
	// DropAudit removes the records of a chain whose Seq is not under first and not over last, oldest first and in pieces, so that
	// other changes are not held up.
	DropAudit(ctx context.Context, chain string, first, last int64) error
}
