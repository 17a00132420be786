package httpapi

import (
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"aion/adapters/web"
	"aion/domain"
)

// answer is what a route says. Without a value and without raw the body is empty.
type answer struct {
	status    int    // 0: 200, or 204 for an empty body
	value     any    // is written as JSON
	raw       []byte // is written as it is, as the negotiated media type
	location  string
	etag      string // without quotes
	immutable bool   // the body never changes
	replayed  bool   // it was given before, to the same Idempotency-Key

	// stream answers with events, lines with one JSON text a line; both write while they read.
	stream func(ctx context.Context, s *feed) error
	lines  func(ctx context.Context, line func(value any) error) error
}

// varies is what an answer depends on that a cache may keep or mistake: its form, and whoever may read it.
const varies = "Accept, Authorization, X-Aion-Subject, X-Aion-Namespaces"

// smallest is from how many bytes on an answer is compressed.
const smallest = 1 << 10

func (a answer) write(q *request) error {
	body := a.raw
	if a.value != nil {
		var err error
		if body, err = domain.Encode(a.value); err != nil {
			return err
		}
	}
	status := a.status
	switch {
	case status == 0 && body == nil:
		status = http.StatusNoContent
	case status == 0:
		status = http.StatusOK
	}
	h := q.out.Header()
	a.describe(h)
	if q.choice || a.immutable {
		h.Add("Vary", varies)
	}
	if a.etag != "" && (q.Method == http.MethodGet || q.Method == http.MethodHead) && matches(q.Header.Values("If-None-Match"), a.etag) {
		q.out.WriteHeader(http.StatusNotModified)
		q.out.WriteHeaderNow()
		return nil
	}
	if body == nil {
		q.out.WriteHeader(status)
		q.out.WriteHeaderNow()
		return nil
	}
	h.Set("Content-Type", contentType(q.media))
	h.Add("Vary", "Accept-Encoding")
	if len(body) >= smallest && acceptsGzip(q.Request) {
		h.Set("Content-Encoding", "gzip")
		q.out.WriteHeader(status)
		if q.Method != http.MethodHead {
			z := gzip.NewWriter(q.out)
			_, _ = z.Write(body) // a client that left is not told
			_ = z.Close()
		}
		q.out.WriteHeaderNow()
		return nil
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	q.out.WriteHeader(status)
	if q.Method != http.MethodHead {
		_, _ = q.out.Write(body) // a client that left is not told
	}
	q.out.WriteHeaderNow()
	return nil
}

func (a answer) describe(h http.Header) {
	if a.location != "" {
		h.Set("Location", a.location)
	}
	if a.etag != "" {
		h.Set("ETag", `"`+a.etag+`"`)
	}
	if a.immutable {
		h.Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	if a.replayed {
		h.Set("Idempotency-Replayed", "true")
	}
}

func contentType(media string) string {
	if strings.HasPrefix(media, "text/") {
		return media + "; charset=utf-8"
	}
	return media
}

// matches reports whether If-Match or If-None-Match names an entity; a weak tag names what its strong one does.
func matches(header []string, etag string) bool {
	for _, value := range header {
		for item := range strings.SplitSeq(value, ",") {
			item = strings.TrimSpace(item)
			if item == "*" || strings.TrimPrefix(item, "W/") == `"`+etag+`"` {
				return true
			}
		}
	}
	return false
}

func acceptsGzip(r *http.Request) bool {
	for _, value := range r.Header.Values("Accept-Encoding") {
		for item := range strings.SplitSeq(value, ",") {
			name, params, _ := strings.Cut(strings.TrimSpace(item), ";")
			params = strings.ReplaceAll(params, " ", "")
			if strings.EqualFold(name, "gzip") && params != "q=0" && params != "q=0.0" && params != "q=0.00" && params != "q=0.000" {
				return true
			}
		}
	}
	return false
}

// exportTimeout bounds an answer of lines, however fast its reader is.
const exportTimeout = deployTimeout

// pour writes an answer while it is read; it counts as a stream. An error after the first byte cuts the connection, so that what is not whole
// does not look whole.
func (a *API) pour(q *request, r answer) error {
	if r.stream != nil {
		return a.feed(q, r.stream)
	}
	leave, err := a.streams.enter(q.who.Owner())
	if err != nil {
		return err
	}
	defer leave()
	out := lines{q: q, control: http.NewResponseController(q.out)}
	err = q.within(exportTimeout, func(ctx context.Context) error { return r.lines(ctx, out.line) })
	if err != nil && !out.begun {
		return err
	}
	if err == nil || errors.Is(err, errHead) {
		err = out.end()
	}
	if err != nil {
		a.cut(q, err)
	}
	return nil
}

// cut logs why an answer ends in its middle and drops the connection. A reader who has left or does not read is no fault.
func (a *API) cut(q *request, err error) {
	if q.Context().Err() == nil && !errors.Is(err, errReader) {
		a.Log.ErrorContext(q.Context(), "an answer ended early", "request_id", web.RequestID(q.Request), "error", err)
	}
	panic(http.ErrAbortHandler)
}
