package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"aion/domain"
)

const (
	auditColumns = `chain, n, at, subject, auth_mode, grant_source, surface, action, namespace, target, outcome, code, request_id, remote, detail, prev, hash`
	sqlAuditAdd  = `INSERT INTO audit_log (` + auditColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlAudit     = `SELECT id, ` + auditColumns + ` FROM audit_log WHERE id > ? ORDER BY id LIMIT ?`
	// One process at a time owns the store, so the last record is the head of the only chain that has grown of late.
	sqlAuditLast = `SELECT chain, n, hash FROM audit_log WHERE id = (SELECT max(id) FROM audit_log)`
)

// audit adds the record of a change behind the last one of this process; nil is no record.
func (t *tx) audit(r *domain.AuditRecord) error {
	if r == nil {
		return nil
	}
	head, err := t.auditHead()
	if err != nil {
		return err
	}
	next := r.Follow(head, t.w.clock.Now())
	_, err = t.exec(sqlAuditAdd, next.Chain, next.N, micros(next.At), next.Subject, next.Mode, next.Source, next.Surface, next.Action, next.Namespace,
		next.Target, next.Outcome, string(next.Code), next.RequestID, next.Remote, blob(next.Detail), next.Prev, next.Hash)
	if err == nil {
		t.records = append(t.records, next)
	}
	return err
}

// auditHead is the last record of this process's chain, with those of this transaction. It is read once; then the writer
// remembers what it has committed.
func (t *tx) auditHead() (domain.AuditHead, error) {
	if n := len(t.records); n > 0 {
		return t.records[n-1].Head(), nil
	}
	if t.w.head != nil {
		return *t.w.head, nil
	}
	last, found, err := t.lastAudit()
	if err != nil || found && last.Chain == t.w.chain {
		return last, err
	}
	return domain.AuditHead{Chain: t.w.chain}, nil
}

func (t *tx) lastAudit() (head domain.AuditHead, found bool, err error) {
	last := make([]driver.Value, 3)
	if found, err = t.row(last, sqlAuditLast); found && err == nil {
		head.Chain, _ = last[0].(string)
		head.N, _ = last[1].(int64)
		head.Hash, _ = last[2].(string)
	}
	return head, found, err
}

// BeginAudit implements ports.AuditLog.
func (s *Store) BeginAudit(ctx context.Context, chain string, first domain.AuditRecord) error {
	return s.write.transaction(ctx, func(t *tx) error {
		heads := []domain.AuditHead{}
		head, found, err := t.lastAudit()
		if err != nil {
			return err
		}
		if found {
			heads = append(heads, head)
		}
		first.Detail = domain.AuditDetail(map[string]any{"heads": heads})
		t.w.chain, t.w.head = chain, nil // a process that cannot begin its chain does not start
		return t.audit(&first)
	})
}

// Audit implements ports.AuditLog.
func (s *Store) Audit(ctx context.Context, r domain.AuditRecord) error {
	return s.write.transaction(ctx, func(t *tx) error { return t.audit(&r) })
}

// AuditRecords implements ports.AuditLog.
func (s *Store) AuditRecords(ctx context.Context, after int64, limit int) ([]domain.AuditRecord, error) {
	var list []domain.AuditRecord
	err := s.each(ctx, func(rows *sql.Rows) error {
		var r domain.AuditRecord
		var at int64
		var detail []byte
		err := rows.Scan(&r.Seq, &r.Chain, &r.N, &at, &r.Subject, &r.Mode, &r.Source, &r.Surface, &r.Action, &r.Namespace, &r.Target, &r.Outcome,
			&r.Code, &r.RequestID, &r.Remote, &detail, &r.Prev, &r.Hash)
		r.At, r.Detail = fromMicros(at), detail
		list = append(list, r)
		return err
	}, sqlAudit, after, max(limit, 0))
	return list, err
}

// AuditHeads implements ports.AuditLog.
func (s *Store) AuditHeads(ctx context.Context) ([]domain.AuditHead, error) {
	var list []domain.AuditHead
	err := s.each(ctx, func(rows *sql.Rows) error {
		var head domain.AuditHead
		err := rows.Scan(&head.Chain, &head.N, &head.Hash)
		list = append(list, head)
		return err
	}, sqlAuditLast)
	return list, err
}
