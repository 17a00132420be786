package ports

import (
	"context"

	"aion/domain/access"
)

// Credentials are the header values of one request that may say who is calling, as they were sent and in their order.
// The x-aion-* ones count only in the modes that say so.
type Credentials struct {
	Authorization []string
	Subject       []string // x-aion-subject
	Namespaces    []string // x-aion-namespaces
	Deploy        []string // x-aion-deploy
}

// Authenticator decides who is calling.
type Authenticator interface {
	// Authenticate gives the caller, with the grants of this one request. It refuses with CodeUnauthenticated
	// (MissingCredential, InvalidCredential, MissingSubject), with code insufficient_scope (ScopeMissing), or, while it
	// cannot judge, with CodeUnavailable (KeysUnavailable). The cause of a refusal is for the log; neither it nor the
	// message ever holds a credential.
	Authenticate(ctx context.Context, c Credentials) (access.Caller, error)
}
