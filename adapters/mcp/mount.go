package mcp

import (
	"slices"

	"github.com/gin-gonic/gin"
)

// Mount serves an endpoint at exactly path, for every HTTP method: the endpoint itself refuses what is not POST, so that
// none of the router's own answers can stand there. router is the root; a route that is not mounted answers like any
// unknown path.
func Mount(router gin.IRouter, path string, endpoint *Endpoint) {
	serve := func(c *gin.Context) {
		endpoint.ServeHTTP(c.Writer, c.Request)
		c.Writer.WriteHeaderNow()
		c.Abort()
	}
	methods := []string{"GET", "POST", "PUT", "PATCH", "HEAD", "OPTIONS", "DELETE", "CONNECT", "TRACE"}
	router.Match(methods, path, serve)
	// Methods that HTTP does not know reach no route; the router's middleware sees them first.
	router.Use(func(c *gin.Context) {
		if c.Request.URL.Path == path && !slices.Contains(methods, c.Request.Method) {
			c.Writer.Header().Del("Allow")
			serve(c)
		}
	})
}
