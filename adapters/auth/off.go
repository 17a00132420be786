package auth

import (
	"context"

	"aion/domain"
	"aion/domain/access"
	"aion/ports"
)

// maxSubject is how long the name of a caller may be, in characters.
const maxSubject = 255

// Off is mode off: every request is the operator; x-aion-subject is a label for the audit log, nothing else is read.
type Off struct{}

var _ ports.Authenticator = Off{}

// Authenticate implements ports.Authenticator. It never refuses.
func (Off) Authenticate(_ context.Context, c ports.Credentials) (access.Caller, error) {
	label := ""
	if len(c.Subject) > 0 {
		label = domain.Quote(c.Subject[0], maxSubject)
	}
	return access.Operator(label), nil
}

// Single narrows whom another authenticator admits to one namespace (namespaces.mode single).
func Single(next ports.Authenticator, ns domain.Namespace) ports.Authenticator {
	return single{next: next, namespaces: []domain.Namespace{ns}}
}

type single struct {
	next       ports.Authenticator
	namespaces []domain.Namespace
}

// Authenticate implements ports.Authenticator.
func (s single) Authenticate(ctx context.Context, c ports.Credentials) (access.Caller, error) {
	who, err := s.next.Authenticate(ctx, c)
	if err != nil {
		return who, err
	}
	who.AllNamespaces, who.Namespaces = false, s.namespaces
	return who, nil
}
