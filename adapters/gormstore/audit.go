package gormstore

import (
	"context"
	"database/sql"

	"aion/ports"
)

const (
	sqlAuditAdd = `INSERT INTO audit_log (at, subject, auth_mode, source, surface, action, namespace, target, outcome, request_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlAudit = `SELECT n, at, subject, auth_mode, source, surface, action, namespace, target, outcome, request_id FROM audit_log
		WHERE n > ? ORDER BY n LIMIT ?`
)

// Audit implements ports.AuditLog.
func (s *Store) Audit(ctx context.Context, r ports.AuditRecord) error {
	return s.write.transaction(ctx, func(t *tx) error {
		_, err := t.exec(sqlAuditAdd, micros(r.At), r.Subject, r.Mode, r.Source, r.Surface, r.Action, r.Namespace, r.Target, r.Outcome, r.RequestID)
		return err
	})
}

// AuditRecords implements ports.AuditLog.
func (s *Store) AuditRecords(ctx context.Context, after int64, limit int) ([]ports.AuditRecord, error) {
	var list []ports.AuditRecord
	err := s.each(ctx, func(rows *sql.Rows) error {
		var r ports.AuditRecord
		var at int64
		err := rows.Scan(&r.N, &at, &r.Subject, &r.Mode, &r.Source, &r.Surface, &r.Action, &r.Namespace, &r.Target, &r.Outcome, &r.RequestID)
		r.At = fromMicros(at)
		list = append(list, r)
		return err
	}, sqlAudit, after, max(limit, 0))
	return list, err
}
