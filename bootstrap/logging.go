package bootstrap

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// logger writes text on a terminal and JSON elsewhere, unless the configuration says otherwise.
func logger(c Config, w *os.File, floor slog.Level) *slog.Logger {
	level := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}[c.LogLevel]
	options := &slog.HandlerOptions{Level: max(level, floor)}
	return slog.New(handler(c.LogFormat, w, options))
}

func handler(format string, w *os.File, options *slog.HandlerOptions) slog.Handler {
	if format == "text" || format == "auto" && term.IsTerminal(int(w.Fd())) {
		return slog.NewTextHandler(io.Writer(w), options)
	}
	return slog.NewJSONHandler(io.Writer(w), options)
}
