package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"aion/domain"
	"aion/domain/access"
	"aion/ports"
)

// MinSecret is how many characters a shared secret has at least.
const MinSecret = 16

// Token is mode token: whoever holds one shared secret says in headers who they are and what they may reach. It is safe
// for concurrent use.
type Token struct {
	digest atomic.Pointer[[sha256.Size]byte]
}

var _ ports.Authenticator = (*Token)(nil)

// NewToken refuses a secret that is too short to be one.
func NewToken(secret string) (*Token, error) {
	t := &Token{}
	if err := t.Change(secret); err != nil {
		return nil, err
	}
	return t, nil
}

// Change takes another secret over from the next request on; one that NewToken would refuse changes nothing.
func (t *Token) Change(secret string) error {
	if n := utf8.RuneCountInString(secret); n < MinSecret {
		return &domain.Error{
			Code: domain.CodeInvalidInput, Type: "ConfigurationInvalid",
			Message: fmt.Sprintf("auth.token: the shared secret has %d characters and must have at least %d", n, MinSecret),
		}
	}
	t.digest.Store(new(sha256.Sum256([]byte(secret))))
	return nil
}

// Authenticate implements ports.Authenticator. How long it takes does not depend on how much of the secret was right.
func (t *Token) Authenticate(_ context.Context, c ports.Credentials) (access.Caller, error) {
	sent, err := bearer(c.Authorization)
	if err != nil {
		return access.Caller{}, err
	}
	digest := sha256.Sum256([]byte(sent))
	if subtle.ConstantTimeCompare(digest[:], t.digest.Load()[:]) != 1 {
		return access.Caller{}, invalidCredential("the token in Authorization: Bearer is not the one of this server (auth.token); ask its operator for it", nil)
	}
	if len(c.Subject) != 1 || !plausible(strings.TrimSpace(c.Subject[0])) {
		return access.Caller{}, &domain.Error{
			Code: domain.CodeUnauthenticated, Type: "MissingSubject",
			Message: fmt.Sprintf("the token is right, but nobody is named: send the header x-aion-subject once, with a name of at most %d characters", maxSubject),
		}
	}
	who := access.Caller{Subject: strings.TrimSpace(c.Subject[0]), Source: "header", Mode: "token"}
	who.Deploy = len(c.Deploy) == 1 && strings.EqualFold(strings.TrimSpace(c.Deploy[0]), "true")
	var names []string
	for _, list := range c.Namespaces { // repeated, a list header means the same as joined
		names = append(names, strings.Split(list, ",")...)
	}
	who.AllNamespaces, who.Namespaces = granted(names)
	return who, nil
}

// granted reads names of namespaces; `*` stands for all.
func granted(names []string) (all bool, list []domain.Namespace) {
	for _, name := range names {
		switch name = strings.TrimSpace(name); name {
		case "":
		case "*":
			return true, nil
		default:
			list = append(list, domain.Namespace(name))
		}
	}
	return false, list
}
