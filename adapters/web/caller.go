package web

import (
	"net/http"
	"strings"

	"aion/domain"
	"aion/domain/access"
)

// Callers decides who makes a request, once, for every route. Implementations are safe for concurrent use.
type Callers interface {
	// Caller reads the credential of a request; the body is not touched. An error that is a *ChallengeError is answered on the
	// HTTP level; any other refusal is given to the caller where its route reports refusals.
	Caller(r *http.Request) (access.Caller, error)
}

// ChallengeError is a refusal that HTTP itself must carry: 401 or 403 with the WWW-Authenticate header that tells a client
// how to go on.
type ChallengeError struct {
	Status          int
	WWWAuthenticate string
	Refusal         *domain.Error
}

func (c *ChallengeError) Error() string { return c.Refusal.Error() }

func (c *ChallengeError) Unwrap() error { return c.Refusal }

// Write answers a request with the challenge.
func (c *ChallengeError) Write(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", c.WWWAuthenticate)
	WriteProblem(w, r, c.Status, c.Refusal)
}

// OperatorCallers is auth mode off: every request is the operator; x-aion-subject is a label for the audit log.
type OperatorCallers struct{}

// sessionBearer begins the credentials of assistant sessions.
const sessionBearer = "aion_as_"

// Caller implements Callers. A session bearer is refused even here: it opens the assistant's route and nothing else.
func (OperatorCallers) Caller(r *http.Request) (access.Caller, error) {
	for _, credential := range r.Header.Values("Authorization") {
		scheme, token, _ := strings.Cut(strings.TrimSpace(credential), " ")
		if strings.EqualFold(scheme, "Bearer") && strings.HasPrefix(strings.TrimLeft(token, " "), sessionBearer) {
			return access.Caller{}, &ChallengeError{
				Status: http.StatusUnauthorized, WWWAuthenticate: `Bearer realm="aion"`,
				Refusal: &domain.Error{
					Code: domain.CodeUnauthenticated, Type: "InvalidCredential",
					Message: "the bearer of an assistant session is not accepted on this route; send no Authorization header, or your own credential",
				},
			}
		}
	}
	return access.Operator(domain.Quote(r.Header.Get("X-Aion-Subject"), 200)), nil
}
