package httpapi

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"aion/adapters/web"
	"aion/domain"
	"aion/domain/access"
)

// request is one request after everything that can be judged without its use case.
type request struct {
	*http.Request
	params gin.Params
	out    gin.ResponseWriter

	who    access.Caller
	key    string // Idempotency-Key; empty: none
	media  string // of the answer
	choice bool   // the route answers in more than one media type
	query  query
	body   body
	source []byte // a text/plain body; nil: none came
}

// param is a part of the path, percent-decoded once.
func (q *request) param(name string) string { return q.params.ByName(name) }

// header is a header that may be sent once; ok is false for a repeated one.
func (q *request) header(name string) (value string, ok bool) {
	values := q.Header.Values(name)
	switch len(values) {
	case 0:
		return "", true
	case 1:
		return values[0], true
	}
	return "", false
}

// sent is a header as it is shown to who sent it.
func (q *request) sent(name string) string { return strings.Join(q.Header.Values(name), ", ") }

// read takes the body in, if the route has one.
func (q *request) read(r route, limit int64) error {
	if r.body == nil && !r.plain {
		return nil
	}
	admitted := []string{mediaJSON}
	if r.plain {
		admitted = append(admitted, mediaText)
	}
	media, unread := q.mediaType(admitted...)
	mayBeEmpty := !r.plain && optional(r.body) && len(q.Header.Values("Content-Type")) == 0
	if unread != nil && !mayBeEmpty {
		return unread
	}
	text, err := web.ReadBody(q.out, q.Request, limit, "api.max_body_bytes")
	if err != nil {
		if domain.TypeOf(err) != "" {
			return err
		}
		return &domain.Error{Code: domain.CodeInvalidInput, Type: "JSONInvalid", Message: "the body did not arrive whole; send it again", Err: err}
	}
	if media == mediaText && !utf8.Valid(text) {
		return invalid("the text is not UTF-8; save it as UTF-8, and send it again")
	}
	if media == mediaText {
		q.source = append([]byte{}, text...)
		return nil
	}
	if len(text) == 0 && optional(r.body) {
		return nil
	}
	if unread != nil {
		return unread
	}
	q.body, err = readBody(text, r.body)
	return err
}

// optional reports whether no member is required.
func optional(members []string) bool {
	for _, m := range members {
		if !strings.HasSuffix(m, "?") {
			return false
		}
	}
	return true
}

// whole refuses a request whose query or body had values that do not fit.
func (q *request) whole() error {
	return violations(append(q.query.faults, q.body.faults...))
}
