package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"aion/adapters/web"
	"aion/domain"
)

const (
	exposedHeaders = "ETag, Location, Retry-After, X-Request-Id, Idempotency-Replayed, Deprecation, Sunset"
	sentHeaders    = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Request-Id, " +
		"x-aion-subject, x-aion-namespaces, x-aion-deploy"
)

// shareAnswers lets pages of a listed origin read the answer (server 1.3). Never *, never credentials.
func (a *API) shareAnswers(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Cache-Control", "no-store")
	if a.Origins == nil {
		return
	}
	h.Add("Vary", "Origin")
	if origin, ok := a.Origins.Admit(c.Request); ok && origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", exposedHeaders)
	}
}

// preflight answers before any credential is looked at; an OPTIONS that is none is a method that the path lacks.
func (a *API) preflight(c *gin.Context, methods []string) {
	h := c.Writer.Header()
	if origin, ok := a.Origins.Admit(c.Request); !ok || origin == "" || c.GetHeader("Access-Control-Request-Method") == "" {
		h.Set("Allow", strings.Join(methods, ", "))
		web.WriteProblem(c.Writer, c.Request, http.StatusMethodNotAllowed, &domain.Error{
			Code: domain.CodeInvalidInput, Type: "MethodNotAllowed",
			Message: "this path serves OPTIONS only as the preflight of a listed origin; it serves " + strings.Join(methods, ", "),
		})
		return
	}
	h.Set("Access-Control-Allow-Methods", strings.Join(methods, ", "))
	h.Set("Access-Control-Allow-Headers", sentHeaders)
	h.Set("Access-Control-Max-Age", "600")
	c.Writer.WriteHeader(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
}
