package access

import "aion/domain"

// Via is how a call came in, for the audit log.
type Via struct {
	Surface   string // mcp, cli; empty: system
	RequestID string
	Remote    string // address of the client
}

// Audit is the record of what the caller does.
func (c Caller) Audit(action string, ns domain.Namespace, target string) *domain.AuditRecord {
	surface := c.Via.Surface
	if surface == "" {
		surface = "system"
	}
	return &domain.AuditRecord{
		Subject: c.Subject, Mode: c.Mode, Source: c.Source, Surface: surface, Action: action, Namespace: string(ns), Target: target,
		Outcome: domain.AuditOK, RequestID: c.Via.RequestID, Remote: c.Via.Remote,
	}
}
