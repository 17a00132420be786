package bootstrap

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"aion/adapters/cli"
)

// drainNews is how often it is told how far a drain has come.
const drainNews = 5 * time.Second

// announce tells the service manager that the server serves.
func (b *backend) announce(log *slog.Logger, l cli.Listening) {
	if err := b.manager.Ready("serving at " + l.URL); err != nil {
		log.Warn("the service manager cannot be told that this server is ready", "error", err)
	}
}

// tellsStop tells the service manager and the log how a stop goes on, until stop.
func (b *backend) tellsStop(ctx context.Context, app *App, grace time.Duration) (stop func()) {
	return beside(func(done <-chan struct{}) {
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		_ = b.manager.Stopping("draining") // one that does not listen has been told of at the start
		end := time.Now().Add(grace)
		news := time.NewTicker(drainNews)
		defer news.Stop()
		for {
			select {
			case <-done:
				return
			case <-news.C:
			}
			left := max(time.Until(end), 0).Round(time.Second)
			app.log.Info("draining", "attempts", app.dispatcher.Running(), "left", left.String())
			_ = b.manager.Status(fmt.Sprintf("draining: %d attempts, %s left", app.dispatcher.Running(), left))
		}
	})
}
