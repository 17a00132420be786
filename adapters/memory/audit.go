package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"aion/domain"
)

// BeginAudit implements ports.AuditLog.
func (s *Store) BeginAudit(_ context.Context, chain string, first domain.AuditRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	first.Detail = domain.AuditDetail(map[string]any{"heads": s.auditHeads()})
	s.chain = chain
	s.record(&first)
	return nil
}

// Audit implements ports.AuditLog.
func (s *Store) Audit(_ context.Context, r domain.AuditRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(&r)
	return nil
}

// record adds the record of a change to the chain of this process; nil is no record. The lock is held.
func (s *Store) record(r *domain.AuditRecord) {
	if r == nil {
		return
	}
	head := domain.AuditHead{Chain: s.chain}
	for i := len(s.audit) - 1; i >= 0 && head.N == 0; i-- {
		if s.audit[i].Chain == s.chain {
			head = s.audit[i].Head()
		}
	}
	next := r.Follow(head, s.clock.Now())
	next.Seq, next.Detail = 1, bytes.Clone(r.Detail)
	if n := len(s.audit); n > 0 {
		next.Seq = s.audit[n-1].Seq + 1
	}
	s.audit = append(s.audit, next)
}

// AuditRecords implements ports.AuditLog.
func (s *Store) AuditRecords(_ context.Context, after int64, limit int) ([]domain.AuditRecord, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at, _ := slices.BinarySearchFunc(s.audit, after+1, func(r domain.AuditRecord, seq int64) int { return cmp.Compare(r.Seq, seq) })
	rest := s.audit[at:]
	return slices.Clone(rest[:min(len(rest), max(limit, 0))]), nil
}

// AuditHeads implements ports.AuditLog.
func (s *Store) AuditHeads(context.Context) ([]domain.AuditHead, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.auditHeads(), nil
}

func (s *Store) auditHeads() []domain.AuditHead {
	heads := []domain.AuditHead{}
	for i := len(s.audit) - 1; i >= 0; i-- {
		r := s.audit[i]
		if !slices.ContainsFunc(heads, func(h domain.AuditHead) bool { return h.Chain == r.Chain }) {
			heads = append(heads, r.Head())
		}
		if r.N == 1 {
			break
		}
	}
	slices.SortFunc(heads, func(a, b domain.AuditHead) int { return strings.Compare(a.Chain, b.Chain) })
	return heads
}
