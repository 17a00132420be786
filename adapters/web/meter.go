package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"aion/ports"
)

// measure counts requests. Routes are patterns and methods a closed set, so that what clients send names no metric; probes
// and the metrics themselves are not counted.
func measure(meter ports.HTTPMeter) gin.HandlerFunc {
	known := []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
	}
	return func(c *gin.Context) {
		if meter == nil || strings.HasPrefix(c.Request.URL.Path, "/health/") || c.Request.URL.Path == "/metrics" {
			return
		}
		route, method := c.FullPath(), c.Request.Method
		if route == "" {
			route = "none"
		}
		if !slices.Contains(known, method) {
			method = "other"
		}
		begin := time.Now()
		meter.HTTPBegan()
		defer func() {
			took := time.Since(begin)
			if strings.HasPrefix(c.Writer.Header().Get("Content-Type"), "text/event-stream") {
				took = -1
			}
			meter.HTTPEnded(route, method, c.Writer.Status(), took)
		}()
		c.Next()
	}
}
