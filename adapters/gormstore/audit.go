package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"aion/domain"
	"aion/ports"
)

const (
	auditColumns = `chain, n, at, subject, auth_mode, grant_source, surface, action, namespace, target, outcome, code, request_id, remote, detail, prev, hash`
	sqlAuditAdd  = `INSERT INTO audit_log (` + auditColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlAudit     = `SELECT id, ` + auditColumns + ` FROM audit_log WHERE id > ? /*pg AND id <= ?*/ ORDER BY id LIMIT ?`
	// One process at a time owns the store, so the last record is the head of the only chain that has grown of late.
	sqlAuditLast = `SELECT chain, n, hash FROM audit_log WHERE id = (SELECT max(id) FROM audit_log)`
	sqlAuditOf   = `SELECT chain, n, hash FROM audit_log WHERE chain = ? ORDER BY n DESC LIMIT 1`
	// Of several processes, those that have added something since the last one began.
	sqlAuditGrown = `SELECT h.chain, h.n, h.hash FROM audit_log AS b CROSS JOIN LATERAL
		(SELECT id, chain, n, hash FROM audit_log WHERE chain = b.chain ORDER BY n DESC LIMIT 1) AS h
		WHERE b.n = 1 AND h.id >= (SELECT coalesce(max(id), 0) FROM audit_log WHERE n = 1) ORDER BY h.chain`
	// Whoever takes this waits for the records that are being added, and until it ends nobody adds any.
	sqlAuditStill = `LOCK TABLE audit_log IN SHARE ROW EXCLUSIVE MODE`
)

// chain is the audit chain of this process. Its records are dense, so one transaction at a time adds to it, as the last
// thing that it does: who waits for a row must not hold up the chain.
type chain struct {
	clock ports.Clock
	count func(action, outcome string) // nil: nobody counts
	turn  chan struct{}                // holds one token
	name  string
	head  *domain.AuditHead // its last durable record; nil: not read yet
}

func newChain(clock ports.Clock, count func(action, outcome string)) *chain {
	c := &chain{clock: clock, count: count, turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	return c
}

// auditEntry is a record that waits for the end of its transaction; then it gets its place.
type auditEntry struct {
	record domain.AuditRecord
	begins bool // it is the first one of the chain that it names
}

// audit adds the record of a change behind the last one of this process; nil is no record.
func (t *tx) audit(r *domain.AuditRecord) {
	if r != nil {
		t.records = append(t.records, auditEntry{record: *r})
	}
}

// holdChain waits for the turn of the chain; audited gives it back.
func (t *tx) holdChain() error {
	if t.held {
		return nil
	}
	select {
	case <-t.chain.turn:
		t.held = true
		return nil
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	}
}

// writeAudit writes the records of the transaction; nothing but the commit may follow.
func (t *tx) writeAudit() error {
	if len(t.records) == 0 {
		return nil
	}
	if err := t.holdChain(); err != nil {
		return err
	}
	head, err := t.auditHead()
	if err != nil {
		return err
	}
	for i := range t.records {
		e := &t.records[i]
		if e.begins {
			head = domain.AuditHead{Chain: e.record.Chain}
		}
		e.record = e.record.Follow(head, t.chain.clock.Now())
		head = e.record.Head()
		r := &e.record
		if err := t.send(sqlAuditAdd, r.Chain, r.N, micros(r.At), r.Subject, r.Mode, r.Source, r.Surface, r.Action, r.Namespace,
			r.Target, r.Outcome, string(r.Code), r.RequestID, r.Remote, blob(r.Detail), r.Prev, r.Hash); err != nil {
			return err
		}
	}
	return nil
}

// audited says how the transaction ended. A commit that failed may have happened all the same, so the chain is read again.
func (t *tx) audited(done bool) {
	if !t.held {
		return
	}
	c := t.chain
	c.head = nil
	if done {
		for i := range t.records {
			r := &t.records[i].record
			head := r.Head()
			c.name, c.head = r.Chain, &head
			if c.count != nil {
				c.count(r.Action, r.Outcome)
			}
		}
	}
	t.held = false
	c.turn <- struct{}{}
}

// auditHead is the last record of this process's chain. It is read once; then the chain remembers what was committed.
func (t *tx) auditHead() (domain.AuditHead, error) {
	if t.chain.head != nil {
		return *t.chain.head, nil
	}
	none := domain.AuditHead{Chain: t.chain.name}
	var last domain.AuditHead
	var found bool
	var err error
	if t.shared != nil {
		last, found, err = t.readHead(sqlAuditOf, t.chain.name)
	} else {
		last, found, err = t.readHead(sqlAuditLast)
	}
	if err != nil || found && last.Chain == t.chain.name {
		return last, err
	}
	return none, nil
}

func (t *tx) readHead(query string, args ...driver.Value) (head domain.AuditHead, found bool, err error) {
	last := make([]driver.Value, 3)
	if found, err = t.row(last, query, args...); found && err == nil {
		head.Chain, _ = last[0].(string)
		head.N, _ = last[1].(int64)
		head.Hash, _ = last[2].(string)
	}
	return head, found, err
}

// BeginAudit implements ports.AuditLog.
func (s *Store) BeginAudit(ctx context.Context, chain string, first domain.AuditRecord) error {
	return s.write.transaction(ctx, func(t *tx) error {
		if err := t.holdChain(); err != nil { // before the table: whoever adds to it has the chain
			return err
		}
		heads, err := t.auditHeads()
		if err != nil {
			return err
		}
		first.Chain, first.Detail = chain, domain.AuditDetail(map[string]any{"heads": heads})
		t.records = append(t.records, auditEntry{record: first, begins: true})
		return nil
	})
}

// auditHeads gives the heads as no record is being added, and none is until the transaction ends.
func (t *tx) auditHeads() ([]domain.AuditHead, error) {
	if t.shared != nil {
		return t.shared.auditHeads(t.ctx)
	}
	heads := []domain.AuditHead{}
	head, found, err := t.readHead(sqlAuditLast)
	if found {
		heads = append(heads, head)
	}
	return heads, err
}

// Audit implements ports.AuditLog.
func (s *Store) Audit(ctx context.Context, r domain.AuditRecord) error {
	return s.write.transaction(ctx, func(t *tx) error { t.audit(&r); return nil })
}

// AuditRecords implements ports.AuditLog.
func (s *Store) AuditRecords(ctx context.Context, after int64, limit int) ([]domain.AuditRecord, error) {
	args, err := s.auditPage(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	return list(ctx, s, func(rows *sql.Rows, r *domain.AuditRecord) error {
		var at int64
		var detail []byte
		err := rows.Scan(&r.Seq, &r.Chain, &r.N, &at, &r.Subject, &r.Mode, &r.Source, &r.Surface, &r.Action, &r.Namespace, &r.Target, &r.Outcome,
			&r.Code, &r.RequestID, &r.Remote, &detail, &r.Prev, &r.Hash)
		r.At, r.Detail = fromMicros(at), detail
		return err
	}, sqlAudit, args...)
}

// auditPage gives the arguments of a page. Several processes add records, and a reader must not pass one whose number was
// given but whose commit is under way: so on Postgres it waits for those, and reads no further.
func (s *Store) auditPage(ctx context.Context, after int64, limit int) ([]any, error) {
	if s.postgres == nil {
		return []any{after, max(limit, 0)}, nil
	}
	last := make([]driver.Value, 1)
	err := s.write.transaction(ctx, func(t *tx) error {
		if err := t.send(`LOCK TABLE audit_log IN SHARE MODE`); err != nil {
			return err
		}
		_, err := t.row(last, `SELECT coalesce(max(id), 0) FROM audit_log`)
		return err
	})
	return []any{after, last[0], max(limit, 0)}, err
}

// AuditHeads implements ports.AuditLog.
func (s *Store) AuditHeads(ctx context.Context) ([]domain.AuditHead, error) {
	return list(ctx, s, func(rows *sql.Rows, head *domain.AuditHead) error {
		return rows.Scan(&head.Chain, &head.N, &head.Hash)
	}, s.sqlHeads())
}

func (s *Store) sqlHeads() string {
	if s.postgres != nil {
		return sqlAuditGrown
	}
	return sqlAuditLast
}
