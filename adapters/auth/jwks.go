package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"aion/domain"
	"aion/domain/access"
	"aion/ports"
)

// JWKSOptions say whose tokens are accepted. All but CA, RequiredScopes, Log and Meter are required.
type JWKSOptions struct {
	URL            string        // of the issuer's key set
	CA             []byte        // PEM certificates that are trusted for it besides the system's; nil: none
	Refresh        time.Duration // how often the key set is fetched
	MaxAge         time.Duration // how long the last good set serves while fetches fail
	Issuer         string        // iss, byte for byte
	Audience       string        // what aud must contain
	RequiredScopes []string      // every token needs all of them
	Clock          ports.Clock
	Log            *slog.Logger
	Meter          ports.Meter // of the fetches; nil: they are not counted
}

// JWKS is mode jwks: callers are the claims of a token that the issuer has signed. It is safe for concurrent use; its keys
// come from Run.
type JWKS struct {
	keys   *keyring
	parser *jwt.Parser
	rules  atomic.Pointer[rules]

	mu   sync.Mutex
	from JWKSOptions
}

// rules are what the claims of a token must say.
type rules struct {
	claims   *jwt.Validator
	issuer   string
	audience string
	required []string
}

var _ ports.Authenticator = (*JWKS)(nil)

// leeway is how much the clocks of issuer and server may differ. Times of tokens are whole seconds, so the present is
// taken as one too: a difference of 60 s passes and one of 61 s does not.
const leeway = time.Minute + time.Nanosecond

// NewJWKS gives an authenticator; nothing is fetched before Run.
func NewJWKS(o JWKSOptions) (*JWKS, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	from, err := newFetcher(o.URL, o.CA)
	if err != nil {
		return nil, unusable(err)
	}
	j := &JWKS{
		keys: newKeyring(from.fetch, o),
		// The claims are judged before a key is looked for: a token that is not for this server never causes a fetch.
		parser: jwt.NewParser(jwt.WithValidMethods(algorithms()), jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation()),
		from:   o,
	}
	j.rules.Store(newRules(o))
	return j, nil
}

func unusable(err error) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "ConfigurationInvalid", Message: err.Error()}
}

func newRules(o JWKSOptions) *rules {
	now := func() time.Time { return o.Clock.Now().Truncate(time.Second) }
	return &rules{
		claims: jwt.NewValidator(jwt.WithTimeFunc(now), jwt.WithLeeway(leeway), jwt.WithExpirationRequired(), jwt.WithIssuedAt(),
			jwt.WithIssuer(o.Issuer), jwt.WithAudience(o.Audience)),
		issuer: o.Issuer, audience: o.Audience, required: slices.Clone(o.RequiredScopes),
	}
}

// Change takes other options over from the next request on, but for Clock, Log and Meter; what NewJWKS would refuse changes
// nothing. Keys are kept while they come from the same place, and fetched at once in any case.
func (j *JWKS) Change(o JWKSOptions) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	o.Clock, o.Log, o.Meter = j.from.Clock, j.from.Log, j.from.Meter
	from, err := newFetcher(o.URL, o.CA)
	if err != nil {
		return unusable(err)
	}
	j.keys.change(from.fetch, o.Refresh, o.MaxAge, o.URL == j.from.URL && bytes.Equal(o.CA, j.from.CA))
	j.rules.Store(newRules(o))
	j.from = o
	return nil
}

// Age is the time since the keys in use were fetched; held is false while there are none.
func (j *JWKS) Age() (age time.Duration, held bool) { return j.keys.age() }

// Run keeps the issuer's keys fresh until ctx ends. It is called once; requests wait for its first fetch.
func (j *JWKS) Run(ctx context.Context) error { return j.keys.run(ctx) }

// maxToken bounds what is decoded of a token that nobody has vouched for.
const maxToken = 16 << 10

// Authenticate implements ports.Authenticator. The x-aion-* headers are not read.
func (j *JWKS) Authenticate(ctx context.Context, c ports.Credentials) (access.Caller, error) {
	text, err := bearer(c.Authorization)
	if err != nil {
		return access.Caller{}, err
	}
	if len(text) > maxToken {
		return access.Caller{}, invalidCredential(fmt.Sprintf("the token has %d bytes; at most %d are read", len(text), maxToken), nil)
	}
	rules, claims := j.rules.Load(), jwt.MapClaims{}
	_, err = j.parser.ParseWithClaims(text, claims, func(t *jwt.Token) (any, error) {
		if err := rules.judge(claims); err != nil {
			return nil, err
		}
		return j.key(ctx, t)
	})
	if err != nil {
		return access.Caller{}, refused(ctx, err)
	}
	return rules.caller(claims)
}

// judge refuses claims that are not those of a present token for this server.
func (r *rules) judge(claims jwt.MapClaims) error {
	err := r.claims.Validate(claims)
	switch {
	case err == nil:
	case errors.Is(err, jwt.ErrTokenInvalidIssuer), errors.Is(err, jwt.ErrTokenRequiredClaimMissing) && claims["iss"] == nil:
		return invalidCredential("the token comes from another issuer than the one of this server", mismatch("iss", r.issuer, claims["iss"]))
	case errors.Is(err, jwt.ErrTokenInvalidAudience), errors.Is(err, jwt.ErrTokenRequiredClaimMissing) && claims["aud"] == nil:
		return invalidCredential("the token is meant for another audience; ask the issuer for one for "+r.audience, mismatch("aud", r.audience, claims["aud"]))
	case errors.Is(err, jwt.ErrTokenExpired):
		return invalidCredential("the token has expired; fetch a new one", err)
	case errors.Is(err, jwt.ErrTokenNotValidYet), errors.Is(err, jwt.ErrTokenUsedBeforeIssued):
		return invalidCredential("the token is not valid yet; compare the clocks of the issuer and of this server", err)
	default:
		return invalidCredential("the token lacks one of iss, aud and exp, or one has the wrong type", err)
	}
	if sub, ok := claims["sub"].(string); !ok || !plausible(sub) {
		return invalidCredential(fmt.Sprintf("the token names nobody: sub must be a text of at most %d characters", maxSubject), nil)
	}
	return nil
}

// mismatch is what the log says about a claim: the wanted and the given value.
func mismatch(claim, wanted string, given any) error {
	return fmt.Errorf("%s: wanted %q, given %q", claim, wanted, domain.Quote(fmt.Sprint(given), 200))
}

// key gives what may verify the signature: the issuer's keys of the token's kid whose type fits its algorithm.
func (j *JWKS) key(ctx context.Context, t *jwt.Token) (any, error) {
	if _, there := t.Header["crit"]; there {
		return nil, invalidCredential("the token asks for an extension (crit) that is not understood here", nil)
	}
	kid, _ := t.Header["kid"].(string)
	if kid == "" {
		return nil, invalidCredential("the token does not say which key signed it (kid)", nil)
	}
	found, err := j.keys.find(ctx, kid)
	if err != nil {
		return nil, err
	}
	var fit jwt.VerificationKeySet
	for _, k := range found {
		if slices.Contains(k.algorithms, t.Method.Alg()) {
			fit.Keys = append(fit.Keys, k.key)
		}
	}
	if len(fit.Keys) == 0 {
		cause := fmt.Errorf("kid %q, alg %s: %d keys of the issuer have this kid, none of them fits", domain.Quote(kid, 64), t.Method.Alg(), len(found))
		return nil, invalidCredential("the token is not signed by a present key of the issuer", cause)
	}
	return fit, nil
}

// refused turns the verdict of the parser into a refusal. Ours, given inside, come out as they are.
func refused(ctx context.Context, err error) error {
	var known *domain.Error
	if errors.As(err, &known) {
		return known
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, jwt.ErrTokenMalformed) {
		return invalidCredential("what was sent is no JSON Web Token", nil)
	}
	if errors.Is(err, jwt.ErrTokenSignatureInvalid) {
		return invalidCredential("the signature of the token does not hold, or is of a kind that is not accepted", err)
	}
	return invalidCredential("the token cannot be verified", nil)
}

// ScopeDeploy is the scope that stands for the deploy grant.
const ScopeDeploy = "aion:deploy"

// caller reads the grants out of the claims of a verified token.
func (r *rules) caller(claims jwt.MapClaims) (access.Caller, error) {
	sub, _ := claims["sub"].(string)
	scopes := scopesOf(claims)
	for _, scope := range r.required {
		if !slices.Contains(scopes, scope) {
			return access.Caller{}, &domain.Error{
				Code: domain.CodeInsufficientScope, Type: "ScopeMissing",
				Message: fmt.Sprintf("the token of %s lacks the scope %s; this server needs %s", domain.Quote(sub, 200), scope, strings.Join(r.required, " ")),
			}
		}
	}
	who := access.Caller{Subject: sub, Issuer: r.issuer, Source: "claim", Mode: "jwks"}
	if at, err := claims.GetExpirationTime(); err == nil && at != nil {
		who.Expires = at.UTC()
	}
	who.Deploy = claims["deploy"] == true || slices.Contains(scopes, ScopeDeploy)
	for _, name := range texts(claims["namespaces"]) {
		if name == "*" {
			who.AllNamespaces, who.Namespaces = true, nil
			break
		}
		who.Namespaces = append(who.Namespaces, domain.Namespace(name))
	}
	return who, nil
}

// scopesOf joins the two ways in which issuers write scopes: the text `scope` and the list `scp`.
func scopesOf(claims jwt.MapClaims) []string {
	text, _ := claims["scope"].(string)
	return append(strings.Fields(text), texts(claims["scp"])...)
}

// texts reads a list of texts; anything else is none at all.
func texts(claim any) []string {
	items, _ := claim.([]any)
	list := make([]string, 0, len(items))
	for _, item := range items {
		text, ok := item.(string)
		if !ok {
			return nil
		}
		list = append(list, text)
	}
	return list
}
