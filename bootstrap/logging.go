package bootstrap

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// logger writes text on a terminal and JSON elsewhere, unless the configuration says otherwise.
func logger(c Config, w *os.File, floor slog.Level) *slog.Logger {
	log, _ := leveled(c, w, floor)
	return log
}

// leveled is a logger whose level can be set again.
func leveled(c Config, w *os.File, floor slog.Level) (log *slog.Logger, set func(Config)) {
	var level slog.LevelVar
	set = func(c Config) {
		level.Set(max(map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}[c.LogLevel], floor))
	}
	set(c)
	return slog.New(handler(c.LogFormat, w, &slog.HandlerOptions{Level: &level})), set
}

func handler(format string, w *os.File, options *slog.HandlerOptions) slog.Handler {
	if format == "text" || format == "auto" && term.IsTerminal(int(w.Fd())) {
		return slog.NewTextHandler(io.Writer(w), options)
	}
	return slog.NewJSONHandler(io.Writer(w), options)
}
