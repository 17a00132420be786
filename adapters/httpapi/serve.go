package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"aion/adapters/web"
	"aion/domain"
	"aion/domain/access"
)

// errTimeout is the cause of a request that took too long.
var errTimeout = errors.New("request timeout")

// handle decides in the order of server 2 (credential, rate, grant, media type, size, syntax), asks the use case, and
// writes its answer. Origin, host, route and method are decided before it is called.
func (a *API) handle(c *gin.Context, r route) {
	q := &request{Request: c.Request, params: c.Params, out: c.Writer}
	if r.grant != public {
		who, err := a.Callers.Caller(c.Request)
		if err != nil {
			web.Refuse(c.Writer, c.Request, err)
			return
		}
		q.who = who
		q.who.Via = access.Via{Surface: "http", RequestID: web.RequestID(c.Request), Remote: c.Request.RemoteAddr}
	}
	answer, err := a.judged(q, r)
	if err == nil && answer.stream == nil && answer.lines == nil {
		err = answer.write(q)
	} else if err == nil {
		err = a.pour(q, answer)
	}
	if err != nil {
		a.refuse(q, r, err)
	}
}

// judged asks the use case when nothing speaks against it.
func (a *API) judged(q *request, r route) (answer, error) {
	if err := a.admit(q, r); err != nil {
		return answer{}, err
	}
	if r.timeout < 0 {
		return r.serve(q.Context(), q)
	}
	bound := cmp.Or(r.timeout, a.Limits.RequestTimeout)
	var got answer
	err := q.within(bound, func(ctx context.Context) (err error) {
		got, err = r.serve(ctx, q)
		return err
	})
	return got, err
}

// within bounds what answers a request. The deadline of its connection moves behind the bound, so that the answer arrives
// however late it is. That of reading stays: net/http lifts it when a request has come whole.
func (q *request) within(bound time.Duration, serve func(context.Context) error) error {
	_ = http.NewResponseController(q.out).SetWriteDeadline(time.Now().Add(bound + writeGrace)) // in-process writers have none
	ctx, cancel := context.WithTimeoutCause(q.Context(), bound, errTimeout)
	defer cancel()
	err := serve(ctx)
	if err != nil && q.Context().Err() == nil && context.Cause(ctx) == errTimeout { //nolint:errorlint // a cause is the value itself
		return domain.Unavailable("DeadlineExceeded", fmt.Sprintf("the request took longer than %s; look at what it did and repeat it", bound), err)
	}
	return err
}

// writeGrace is what a client gets to take an answer that was long in the making.
const writeGrace = 30 * time.Second

func (a *API) admit(q *request, r route) error {
	if r.grant != public {
		if err := a.rates.Take(q.who, a.Clock.Now()); err != nil {
			return err
		}
	}
	if err := q.granted(r.grant); err != nil {
		return err
	}
	if err := q.negotiate(r.media); err != nil {
		return err
	}
	if err := q.read(r, a.Limits.BodyBytes); err != nil {
		return err
	}
	if err := q.query.admit(q.URL.RawQuery, r.query); err != nil {
		return err
	}
	if q.media != mediaJSON {
		q.query.whollyGiven()
	}
	if err := q.whole(); err != nil {
		return err
	}
	return q.keyed(r.keyed)
}

// granted judges the grant from the caller alone, before anything is looked up.
func (q *request) granted(g grant) error {
	if g == namespaced || g == namespacedDeploys {
		if err := q.who.Reach(domain.Namespace(q.param("ns"))); err != nil {
			return err
		}
	}
	if g == deploys || g == namespacedDeploys {
		return q.who.MayDeploy()
	}
	return nil
}

// negotiate picks the first media type of the route that the client names, else the first one if it admits that.
func (q *request) negotiate(media []string) error {
	if media == nil {
		media = []string{mediaJSON}
	}
	q.choice = len(media) > 1
	for _, m := range media {
		if web.AcceptsByName(q.Request, m) {
			q.media = m
			return nil
		}
	}
	for _, m := range media {
		if web.Accepts(q.Request, m) {
			q.media = m
			return nil
		}
	}
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "NotAcceptable",
		Message: fmt.Sprintf("Accept admits nothing that this path can answer; it answers %s", strings.Join(media, ", ")),
	}
}

// keyed takes the Idempotency-Key of a route that honours it.
func (q *request) keyed(honoured bool) error {
	values := q.Header.Values("Idempotency-Key")
	if !honoured || len(values) == 0 {
		return nil
	}
	q.key = values[0]
	bad := func(r rune) bool { return r < '!' || r > '~' }
	if len(values) > 1 || q.key == "" || len(q.key) > 128 || strings.ContainsFunc(q.key, bad) {
		return invalid("Idempotency-Key is sent once and has 1 to 128 visible ASCII characters; send such a key, or none")
	}
	return nil
}

// mediaType tells whether a body has one of the admitted types. The charset is absent or utf-8.
func (q *request) mediaType(admitted ...string) (string, error) {
	encoding, once := q.header("Content-Encoding")
	if !once || encoding != "" && !strings.EqualFold(encoding, "identity") {
		return "", unsupported(fmt.Sprintf("Content-Encoding %q is not read; send the body as it is", domain.Quote(q.sent("Content-Encoding"), 64)))
	}
	given, once := q.header("Content-Type")
	kind, params, err := mime.ParseMediaType(given)
	charset := params["charset"]
	for _, m := range admitted {
		if once && err == nil && kind == m && (charset == "" || strings.EqualFold(charset, "utf-8")) {
			return m, nil
		}
	}
	return "", unsupported(fmt.Sprintf("Content-Type %q is not read here; send %s in UTF-8",
		domain.Quote(q.sent("Content-Type"), 64), strings.Join(admitted, " or ")))
}

func unsupported(message string) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "MediaTypeUnsupported", Message: message}
}

func invalid(message string) error {
	return &domain.Error{Code: domain.CodeInvalidInput, Type: "SchemaViolation", Message: message}
}
