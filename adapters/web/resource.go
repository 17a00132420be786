package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"aion/domain"
)

// metadataPath is where the metadata of a protected resource stands (RFC 9728); the path of the resource may follow it.
const metadataPath = "/.well-known/oauth-protected-resource"

// Resource says what a token is for and who issues it. Nothing of it is ever taken from a request.
type Resource struct {
	PublicURL      string // of this server, without a path
	Path           string // of the protected resource
	Issuer         string
	RequiredScopes []string // every token needs all of them
	GrantScopes    []string // scopes that give more than access
}

// ProtectedResource is what a client needs to get a token for a resource.
type ProtectedResource struct {
	path        string
	metadataURL string
	terms       atomic.Pointer[terms]
}

// terms are what may change while the resource is served.
type terms struct {
	required []string
	document []byte
}

// NewProtectedResource describes a resource.
func NewProtectedResource(r Resource) (*ProtectedResource, error) {
	p := &ProtectedResource{path: r.Path, metadataURL: r.PublicURL + metadataPath + r.Path}
	return p, p.Change(r)
}

// Change takes issuer and scopes of another description over from the next request on.
func (p *ProtectedResource) Change(r Resource) error {
	supported := slices.Clone(r.RequiredScopes)
	for _, scope := range r.GrantScopes {
		if !slices.Contains(supported, scope) {
			supported = append(supported, scope)
		}
	}
	document, err := json.Marshal(struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Methods  []string `json:"bearer_methods_supported"`
		Scopes   []string `json:"scopes_supported"`
		Name     string   `json:"resource_name"`
	}{r.PublicURL + r.Path, []string{r.Issuer}, []string{"header"}, supported, "aion"})
	if err != nil {
		return fmt.Errorf("metadata of the protected resource: %w", err)
	}
	p.terms.Store(&terms{required: slices.Clone(r.RequiredScopes), document: document})
	return nil
}

// Mount serves the metadata at its two paths. They are public: no credential, origin or host decides about the answer.
func (p *ProtectedResource) Mount(router gin.IRouter) {
	for _, at := range []string{metadataPath, metadataPath + p.path} {
		router.GET(at, p.serve)
		router.HEAD(at, p.serve)
		router.OPTIONS(at, p.preflight)
	}
}

func (p *ProtectedResource) serve(c *gin.Context) {
	document := p.terms.Load().document
	h := c.Writer.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(document)))
	h.Set("Cache-Control", "max-age=3600")
	p.share(h)
	c.Writer.WriteHeader(http.StatusOK)
	_, _ = c.Writer.Write(document) // a client that left is not told
}

// preflight admits the header that browser clients send with every request of the protocol.
func (p *ProtectedResource) preflight(c *gin.Context) {
	h := c.Writer.Header()
	p.share(h)
	h.Set("Access-Control-Allow-Methods", http.MethodGet)
	h.Set("Access-Control-Allow-Headers", "MCP-Protocol-Version, Accept, Content-Type")
	h.Set("Access-Control-Max-Age", "600")
	c.Writer.WriteHeader(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
}

func (p *ProtectedResource) share(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// challenge turns a refusal of the auth port into an answer of HTTP (mcp 8.4).
func (p *ProtectedResource) challenge(r *http.Request, err error) *ChallengeError {
	var refusal *domain.Error
	if !errors.As(err, &refusal) {
		return &ChallengeError{Status: http.StatusInternalServerError, Refusal: Internal(RequestID(r))}
	}
	required := p.terms.Load().required
	metadata := `resource_metadata="` + quotable(p.metadataURL) + `"`
	scope := `scope="` + quotable(strings.Join(required, " ")) + `"`
	switch {
	case refusal.Code == domain.CodeUnauthenticated:
		params := []string{metadata}
		if len(required) > 0 {
			params = append(params, scope)
		}
		if refusal.Type != "MissingCredential" {
			params = append(params, `error="invalid_token"`, `error_description="`+quotable(refusal.Message)+`"`)
		}
		return &ChallengeError{Status: http.StatusUnauthorized, WWWAuthenticate: "Bearer " + strings.Join(params, ", "), Refusal: refusal}
	case refusal.Type == "ScopeMissing":
		return &ChallengeError{
			Status: http.StatusForbidden, Refusal: refusal,
			WWWAuthenticate: `Bearer error="insufficient_scope", ` + scope + ", " + metadata,
		}
	}
	return &ChallengeError{Status: http.StatusServiceUnavailable, RetryAfter: 5, Refusal: refusal}
}

// quotable keeps what may stand between quotes in WWW-Authenticate (RFC 6750): no quote, no backslash, visible ASCII.
func quotable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, text)
}
