package bootstrap

import (
	"crypto/rand"
	"time"

	"github.com/gin-gonic/gin"

	"aion/adapters/mcp/general"
	"aion/adapters/metrics"
	"aion/adapters/web"
	"aion/application/tasks"
)

// newTasks builds the tasks of /mcp.
func (a *App) newTasks(st store) *tasks.Service {
	c := a.Config
	return tasks.New(tasks.Deps{
		Store: st, Tasks: st, Work: general.NewAwaited(a.Runs), Clock: a.clock, Random: random, IDs: a.ids, Log: a.log,
		TTL: time.Duration(c.MCPTaskTTLMS) * time.Millisecond, MaxWorking: c.MCPMaxWorkingTasks, Sole: !a.others.shared,
	})
}

func random() (bits [16]byte) {
	_, _ = rand.Read(bits[:]) // it never fails: the process ends instead
	return bits
}

// showMetrics serves the metrics; where callers have credentials, to callers only.
func showMetrics(router gin.IRouter, registry *metrics.Registry, callers web.Callers) {
	handler := registry.Handler()
	router.GET("/metrics", func(c *gin.Context) {
		if _, err := callers.Caller(c.Request); err != nil {
			web.Refuse(c.Writer, c.Request, err)
			return
		}
		handler.ServeHTTP(c.Writer, c.Request)
	})
}
