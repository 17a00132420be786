package bootstrap

import (
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"aion/adapters/mcp/general"
	"aion/adapters/metrics"
	"aion/adapters/web"
	"aion/application/tasks"
	"aion/ports"
)

// newTasks builds the tasks of /mcp. This process owns its store alone.
func (a *App) newTasks(st ports.MCPTaskStore) *tasks.Service {
	c := a.Config
	return tasks.New(tasks.Deps{
		Store: st, Work: general.NewAwaited(a.Runs), Clock: a.clock, Random: random, IDs: a.ids, Log: a.log,
		TTL: time.Duration(c.MCPTaskTTLMS) * time.Millisecond, MaxWorking: c.MCPMaxWorkingTasks, Sole: true,
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
		_, err := callers.Caller(c.Request)
		var challenge *web.ChallengeError
		switch {
		case errors.As(err, &challenge):
			challenge.Write(c.Writer, c.Request)
		case err != nil:
			web.WriteProblem(c.Writer, c.Request, http.StatusUnauthorized, err)
		default:
			handler.ServeHTTP(c.Writer, c.Request)
		}
	})
}
