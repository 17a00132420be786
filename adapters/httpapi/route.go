package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"aion/adapters/web"
)

// grant is what a route asks of its caller.
type grant int

// The grants: nothing, a credential, a namespace (the one that the path names), the deploy grant, and both.
const (
	public grant = iota + 1
	authenticated
	namespaced
	deploys
	namespacedDeploys
)

// The media types of answers.
const (
	mediaJSON   = "application/json"
	mediaLines  = "application/x-ndjson"
	mediaText   = "text/plain"
	mediaEvents = "text/event-stream"
)

// route is one method of one path and what is judged before its use case is asked.
type route struct {
	method string
	path   string // behind the prefix, with :name and *name
	grant  grant
	// keyed routes honour Idempotency-Key.
	keyed bool
	// query names the parameters; a name that ends in * may be repeated.
	query []string
	// body names the members of a JSON object; a name that ends in ? may be absent. nil: no body is read.
	body []string
	// plain also takes a text/plain body, as request.source.
	plain bool
	// media are the types that an answer can have, the first one when the client does not care; nil: JSON alone.
	media []string
	// action names a change in the audit log, where a refused one is recorded; empty: a read.
	action string
	// timeout replaces the bound of a request; negative: none, because the answer is a stream.
	timeout time.Duration
	serve   handler
}

// endless is the timeout of streams.
const endless = -1

// handler asks the use case. Its error is the refusal that the caller reads, or a defect.
type handler func(ctx context.Context, q *request) (answer, error)

// routes is every route of the API.
func (a *API) routes() []route {
	return slices.Concat(a.runRoutes(), a.serverRoutes(), a.namespaceRoutes(), a.documentRoutes(), a.revisionRoutes(), a.languageRoutes(),
		a.deploymentRoutes(), a.versionRoutes(), a.scheduleRoutes(), a.taskRoutes(), a.workerRoutes(), a.queueRoutes(), a.auditRoutes(), a.backupRoutes())
}

// Mount adds the routes, and the API's own document.
func (a *API) Mount(router *gin.Engine) {
	methods := map[string][]string{}
	guarded := router.Group(prefix, web.Guard(a.Hosts, a.Origins), exactSegments, a.shareAnswers)
	for _, r := range a.routes() {
		serve := func(c *gin.Context) { a.handle(c, r) }
		guarded.Handle(r.method, r.path, serve)
		methods[r.path] = append(methods[r.path], r.method)
		if r.method == http.MethodGet {
			guarded.HEAD(r.path, serve)
			methods[r.path] = append(methods[r.path], http.MethodHead)
		}
	}
	for path, known := range methods {
		slices.Sort(known)
		guarded.OPTIONS(path, func(c *gin.Context) { a.preflight(c, known) })
	}
	router.GET("/openapi.json", web.Guard(a.Hosts, a.Origins), a.shareAnswers, a.description.serve)
	router.HEAD("/openapi.json", web.Guard(a.Hosts, a.Origins), a.shareAnswers, a.description.serve)
}

// exactSegments refuses an encoded slash: it would make two segments of one. Only the path of a document may hold one.
func exactSegments(c *gin.Context) {
	if strings.Contains(strings.ToLower(c.Request.URL.EscapedPath()), "%2f") && !strings.Contains(c.FullPath(), "*") {
		web.NoRoute(c)
		c.Abort()
	}
}
