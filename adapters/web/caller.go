package web

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"aion/domain"
	"aion/domain/access"
	"aion/ports"
)

// Callers decides who makes a request, once, for every route. Implementations are safe for concurrent use.
type Callers interface {
	// Caller reads the credential of a request; the body is not touched. An error that is a *ChallengeError is answered on the
	// HTTP level; any other refusal is given to the caller where its route reports refusals.
	Caller(r *http.Request) (access.Caller, error)
}

// ChallengeError is a refusal that HTTP itself must carry: 401 or 403 with the WWW-Authenticate header that tells a client
// how to go on, or 503 while no credential can be judged.
type ChallengeError struct {
	Status          int
	WWWAuthenticate string // empty: none
	RetryAfter      int    // seconds; 0: not told
	Refusal         *domain.Error
}

func (c *ChallengeError) Error() string { return c.Refusal.Error() }

func (c *ChallengeError) Unwrap() error { return c.Refusal }

// Write answers a request with the challenge.
func (c *ChallengeError) Write(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 && r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close") // else net/http would wait for the body before it answers
	}
	if c.WWWAuthenticate != "" {
		w.Header().Set("WWW-Authenticate", c.WWWAuthenticate)
	}
	if c.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(c.RetryAfter))
	}
	WriteProblem(w, r, c.Status, c.Refusal)
}

// sessionBearer begins the credentials of assistant sessions.
const sessionBearer = "aion_as_"

// NewCallers decides callers through the auth port. With a protected resource every refusal is a challenge that leads to
// its metadata (mode jwks); without one it is left to the route (modes off and token). The bearer of an assistant session
// is refused before anything else looks at it: it opens the assistant's route and nothing else.
func NewCallers(auth ports.Authenticator, resource *ProtectedResource, log *slog.Logger) Callers {
	return &callers{auth: auth, resource: resource, log: log}
}

type callers struct {
	auth     ports.Authenticator
	resource *ProtectedResource
	log      *slog.Logger
}

// Caller implements Callers.
func (c *callers) Caller(r *http.Request) (access.Caller, error) {
	authorization := r.Header.Values("Authorization")
	if hasSessionBearer(authorization) {
		return access.Caller{}, sessionRefused()
	}
	who, err := c.auth.Authenticate(r.Context(), ports.Credentials{
		Authorization: authorization,
		Subject:       r.Header.Values("X-Aion-Subject"),
		Namespaces:    r.Header.Values("X-Aion-Namespaces"),
		Deploy:        r.Header.Values("X-Aion-Deploy"),
	})
	if err == nil {
		return who, nil
	}
	c.record(r, err)
	if c.resource == nil {
		return access.Caller{}, err
	}
	return access.Caller{}, c.resource.challenge(r, err)
}

// record writes why a credential was refused; the credential itself is never written.
func (c *callers) record(r *http.Request, err error) {
	var refusal *domain.Error
	if !errors.As(err, &refusal) {
		if r.Context().Err() == nil { // else the client has left
			c.log.ErrorContext(r.Context(), "a credential could not be judged", slog.String("request_id", RequestID(r)), slog.Any("error", err))
		}
		return
	}
	if refusal.Type == "MissingCredential" {
		return // who sends none is no event
	}
	attrs := []slog.Attr{
		slog.String("request_id", RequestID(r)), slog.String("code", string(refusal.Code)), slog.String("error_type", refusal.Type),
		slog.String("remote", r.RemoteAddr), slog.String("reason", domain.Quote(refusal.Message, 500)),
	}
	if refusal.Err != nil {
		attrs = append(attrs, slog.String("error", domain.Quote(refusal.Err.Error(), 500)))
	}
	c.log.LogAttrs(r.Context(), slog.LevelInfo, "credential refused", attrs...)
}

func hasSessionBearer(authorization []string) bool {
	for _, value := range authorization {
		words := strings.Fields(value)
		if len(words) > 1 && strings.EqualFold(words[0], "Bearer") && strings.HasPrefix(words[1], sessionBearer) {
			return true
		}
	}
	return false
}

func sessionRefused() *ChallengeError {
	return &ChallengeError{
		Status: http.StatusUnauthorized, WWWAuthenticate: `Bearer realm="aion"`,
		Refusal: &domain.Error{
			Code: domain.CodeUnauthenticated, Type: "InvalidCredential",
			Message: "the bearer of an assistant session is not accepted on this route; send no Authorization header, or your own credential",
		},
	}
}
