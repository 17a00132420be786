package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

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

// Door is what decides who comes in. All but Auth may be nil.
type Door struct {
	Auth ports.Authenticator
	// Resource makes every refusal a challenge that leads to its metadata (mode jwks); without one it is left to the route
	// (modes off and token).
	Resource *ProtectedResource
	Log      *slog.Logger
	Meter    ports.Meter
	Audit    func(context.Context, domain.AuditRecord) // of refused credentials; nil: nothing is kept
}

// NewCallers decides callers through the auth port. The bearer of an assistant session is refused before anything else
// looks at it: it opens the assistant's route and nothing else. Who sends many wrong credentials is told to wait instead.
func NewCallers(d Door) Callers {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	return &callers{Door: d, failures: failures{windows: map[netip.Prefix]window{}}}
}

type callers struct {
	Door
	failures failures
}

// Caller implements Callers.
func (c *callers) Caller(r *http.Request) (access.Caller, error) {
	authorization := r.Header.Values("Authorization")
	if hasSessionBearer(authorization) {
		challenge := sessionRefused()
		if over := c.failed(r, challenge.Refusal); over != nil {
			challenge = rateChallenge(over)
		}
		return access.Caller{}, challenge
	}
	who, err := c.authenticate(r)
	if err == nil {
		return who, nil
	}
	over := c.failed(r, err)
	switch {
	case c.Resource == nil && over != nil:
		return access.Caller{}, over
	case c.Resource == nil:
		return access.Caller{}, err
	case over != nil:
		return access.Caller{}, rateChallenge(over)
	}
	return access.Caller{}, c.Resource.challenge(r, err)
}

func (c *callers) authenticate(r *http.Request) (access.Caller, error) {
	return c.Auth.Authenticate(r.Context(), ports.Credentials{
		Authorization: r.Header.Values("Authorization"),
		Subject:       r.Header.Values("X-Aion-Subject"),
		Namespaces:    r.Header.Values("X-Aion-Namespaces"),
		Deploy:        r.Header.Values("X-Aion-Deploy"),
	})
}

// Again judges the credential of a request that was admitted before, whose answer still goes on. A refusal is no failed
// sign-in: it is not counted, not recorded and no challenge.
func Again(by Callers, r *http.Request) (access.Caller, error) {
	if c, ok := by.(*callers); ok {
		return c.authenticate(r)
	}
	return by.Caller(r)
}

// Refuse answers on a route whose refusals are those of HTTP, with what Caller has said.
func Refuse(w http.ResponseWriter, r *http.Request, err error) {
	var challenge *ChallengeError
	var refusal *domain.Error
	switch {
	case errors.As(err, &challenge):
		challenge.Write(w, r)
	case errors.As(err, &refusal) && refusal.Code == domain.CodeResourceExhausted:
		rateChallenge(refusal).Write(w, r)
	default:
		WriteProblem(w, r, http.StatusUnauthorized, err)
	}
}

func rateChallenge(refusal *domain.Error) *ChallengeError {
	wait, _ := refusal.Details["retry_after_ms"].(int64)
	return &ChallengeError{Status: http.StatusTooManyRequests, RetryAfter: int((wait + 999) / 1000), Refusal: refusal}
}

// failed records a refusal, and gives another one when there were too many of wrong credentials.
func (c *callers) failed(r *http.Request, err error) (over *domain.Error) {
	c.record(r, err)
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Type == "MissingCredential" {
		return nil // who sends none is no event
	}
	if c.Meter != nil {
		c.Meter.AuthFailure(refusal.Type)
	}
	if c.Audit != nil {
		c.Audit(r.Context(), domain.AuditRecord{
			Surface: "http", Action: "auth.refused", Target: r.URL.Path, Code: refusal.Code, RequestID: RequestID(r), Remote: r.RemoteAddr,
			Detail: domain.AuditDetail(map[string]any{"error_type": refusal.Type}),
		})
	}
	if refusal.Type != "InvalidCredential" {
		return nil
	}
	if wait, over := c.failures.add(address(r), time.Now()); over {
		return tooManyFailures(wait)
	}
	return nil
}

// record writes why a credential was refused; the credential itself is never written.
func (c *callers) record(r *http.Request, err error) {
	var refusal *domain.Error
	if !errors.As(err, &refusal) {
		if r.Context().Err() == nil { // else the client has left
			c.Log.ErrorContext(r.Context(), "a credential could not be judged", slog.String("request_id", RequestID(r)), slog.Any("error", err))
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
	c.Log.LogAttrs(r.Context(), slog.LevelInfo, "credential refused", attrs...)
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
