package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"aion/domain"
	"aion/ports"
)

const (
	namespaceColumns = `name, description, max_in_flight_activities, retention, created_at, created_by`
	sqlNamespaceAdd  = `INSERT INTO namespaces (` + namespaceColumns + `) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING`
	sqlNamespace     = `SELECT ` + namespaceColumns + ` FROM namespaces WHERE name = ?`
	sqlNamespaceHold = sqlNamespace + forUpdate
	sqlNamespaces    = `SELECT ` + namespaceColumns + ` FROM namespaces WHERE name > ? ORDER BY name LIMIT ?`
	sqlNamespaceSet  = `UPDATE namespaces SET description = ?, max_in_flight_activities = ?, retention = ? WHERE name = ?`
	sqlNamespaceUsed = `SELECT 1 FROM runs WHERE namespace = ? UNION ALL SELECT 1 FROM schedules WHERE namespace = ? LIMIT 1`
	sqlNamespaceDrop = `DELETE FROM namespaces WHERE name = ?`
)

// AddNamespace implements ports.NamespaceStore.
func (s *Store) AddNamespace(ctx context.Context, n ports.NamespaceRow) (stored ports.NamespaceRow, added bool, err error) {
	err = s.write.transaction(ctx, func(t *tx) error {
		changed, err := t.exec(sqlNamespaceAdd, string(n.Name), n.Description, bound(n.MaxInFlight), retention(n.Retention), micros(n.CreatedAt), n.CreatedBy)
		if err != nil {
			return err
		}
		if added = changed == 1; added {
			t.audit(n.Audit)
		}
		stored, err = t.namespace(n.Name)
		if !added && domain.CodeOf(err) == domain.CodeNotFound {
			return errAgain // somebody has removed it meanwhile
		}
		return err
	})
	return stored, added, err
}

// ChangeNamespace implements ports.NamespaceStore.
func (s *Store) ChangeNamespace(ctx context.Context, n ports.NamespaceRow) (stored ports.NamespaceRow, err error) {
	err = s.write.transaction(ctx, func(t *tx) error {
		if _, err := t.exec(sqlNamespaceSet, n.Description, bound(n.MaxInFlight), retention(n.Retention), string(n.Name)); err != nil {
			return err
		}
		if stored, err = t.namespace(n.Name); err != nil {
			return err
		}
		t.audit(n.Audit)
		return nil
	})
	return stored, err
}

// RemoveNamespace implements ports.NamespaceStore.
func (s *Store) RemoveNamespace(ctx context.Context, name domain.Namespace, audit *domain.AuditRecord) error {
	return s.write.transaction(ctx, func(t *tx) error {
		if _, err := t.namespace(name); err != nil {
			return err
		}
		used, err := t.row(make([]driver.Value, 1), sqlNamespaceUsed, string(name), string(name))
		if err != nil {
			return err
		}
		if used {
			return ports.NamespaceNotEmpty(name)
		}
		t.audit(audit)
		return t.send(sqlNamespaceDrop, string(name))
	})
}

// namespace reads one, which nobody else changes until the transaction ends.
func (t *tx) namespace(name domain.Namespace) (ports.NamespaceRow, error) {
	row := make([]driver.Value, 6)
	found, err := t.row(row, sqlNamespaceHold, string(name))
	if err != nil {
		return ports.NamespaceRow{}, err
	}
	if !found {
		return ports.NamespaceRow{}, domain.NamespaceNotFound(string(name))
	}
	n := ports.NamespaceRow{Name: name}
	n.Description, _ = row[1].(string)
	if most, ok := row[2].(int64); ok {
		n.MaxInFlight = new(int(most))
	}
	if kept, ok := row[3].(int64); ok {
		n.Retention = new(time.Duration(kept) * time.Microsecond)
	}
	at, _ := row[4].(int64)
	n.CreatedAt = fromMicros(at)
	n.CreatedBy, _ = row[5].(string)
	return n, nil
}

// Namespace implements ports.NamespaceStore.
func (s *Store) Namespace(ctx context.Context, name domain.Namespace) (ports.NamespaceRow, error) {
	list, err := s.namespaces(ctx, sqlNamespace, string(name))
	if err != nil {
		return ports.NamespaceRow{}, err
	}
	if len(list) == 0 {
		return ports.NamespaceRow{}, domain.NamespaceNotFound(string(name))
	}
	return list[0], nil
}

// Namespaces implements ports.NamespaceStore.
func (s *Store) Namespaces(ctx context.Context, after domain.Namespace, limit int) ([]ports.NamespaceRow, error) {
	return s.namespaces(ctx, sqlNamespaces, string(after), max(limit, 0))
}

func (s *Store) namespaces(ctx context.Context, query string, args ...any) ([]ports.NamespaceRow, error) {
	return list(ctx, s, func(rows *sql.Rows, n *ports.NamespaceRow) error {
		var kept sql.NullInt64
		var at int64
		if err := rows.Scan(&n.Name, &n.Description, &n.MaxInFlight, &kept, &at, &n.CreatedBy); err != nil {
			return err
		}
		if kept.Valid {
			n.Retention = new(time.Duration(kept.Int64) * time.Microsecond)
		}
		n.CreatedAt = fromMicros(at)
		return nil
	}, query, args...)
}

func bound(n *int) driver.Value {
	if n == nil {
		return nil
	}
	return int64(*n)
}

func retention(d *time.Duration) driver.Value {
	if d == nil {
		return nil
	}
	return d.Microseconds()
}
