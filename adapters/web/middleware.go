package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"aion/domain"
	"aion/ports"
)

const requestIDHeader = "X-Request-Id"

var requestIDShape = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// RequestID is the id under which the log holds a request. The host has put it there: taken over from the client when it
// is well-formed, minted otherwise.
func RequestID(r *http.Request) string { return r.Header.Get(requestIDHeader) }

// identify names the request and sets the headers that every answer has.
func identify(build string, ids ports.IDs) gin.HandlerFunc {
	return func(c *gin.Context) {
		sent := c.Request.Header.Values(requestIDHeader)
		if len(sent) != 1 || !requestIDShape.MatchString(sent[0]) {
			c.Request.Header.Set(requestIDHeader, ids.UUIDv7())
		}
		h := c.Writer.Header()
		h.Set(requestIDHeader, RequestID(c.Request))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if c.Request.TLS != nil {
			h.Set("Strict-Transport-Security", transportSecurity)
		}
		if build != "" {
			h.Set("X-Aion-Build", build)
		}
	}
}

// record writes one line per request at its end: never headers, bodies or query values.
func record(log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		if strings.HasPrefix(c.Request.URL.Path, "/health/") || c.Request.URL.Path == "/metrics" {
			return
		}
		begin := time.Now()
		c.Next()
		level := requestLevel(c.Request.Method, c.Writer.Status())
		ctx := c.Request.Context()
		if !log.Enabled(ctx, level) {
			return
		}
		log.LogAttrs(ctx, level, "http",
			slog.String("request_id", RequestID(c.Request)),
			slog.String("method", domain.Quote(c.Request.Method, 32)),
			slog.String("route", c.FullPath()),
			slog.Int("status", c.Writer.Status()),
			slog.Int("bytes", max(c.Writer.Size(), 0)),
			slog.String("remote", c.Request.RemoteAddr),
			slog.String("user_agent", domain.Quote(c.Request.UserAgent(), 200)),
			slog.Int64("duration_ms", time.Since(begin).Milliseconds()))
	}
}

func requestLevel(method string, status int) slog.Level {
	switch {
	case status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable:
		return slog.LevelError
	case status >= http.StatusBadRequest:
		return slog.LevelInfo
	case method == http.MethodGet, method == http.MethodHead, method == http.MethodOptions:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// recovered turns a panic into a 500 with a reference; the process goes on.
func recovered(log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause == http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way: it is a signal, not an error
				panic(cause)
			}
			LogPanic(c.Request, log, RequestID(c.Request), cause)
			if c.Writer.Written() {
				panic(http.ErrAbortHandler) // a half answer must not look whole
			}
			c.Abort()
			WriteProblem(c.Writer, c.Request, http.StatusInternalServerError, Internal(RequestID(c.Request)))
		}()
		c.Next()
	}
}

// LogPanic records a caught panic with its stack under a reference. It is called in the deferred function that
// recovered.
func LogPanic(r *http.Request, log *slog.Logger, reference string, cause any) {
	log.ErrorContext(r.Context(), "panic while serving a request",
		slog.String("request_id", reference),
		slog.String("error", domain.Quote(fmt.Sprint(cause), 2000)),
		slog.String("stack", domain.Quote(string(debug.Stack()), 16_000)))
}

func boundedURL(c *gin.Context) {
	if n := len(c.Request.RequestURI); n > maxURLBytes {
		WriteProblem(c.Writer, c.Request, http.StatusRequestURITooLong, &domain.Error{
			Code: domain.CodeInvalidInput, Type: "URLTooLong",
			Message: fmt.Sprintf("the URL has %d bytes; at most %d are read", n, maxURLBytes),
		})
		c.Abort()
	}
}
