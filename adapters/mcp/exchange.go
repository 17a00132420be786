package mcp

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"aion/adapters/web"
	"aion/adapters/web/jsontext"
	"aion/domain"
	"aion/domain/access"
)

// exchange is one request and its answer.
type exchange struct {
	*Endpoint
	w       http.ResponseWriter
	r       *http.Request
	caller  access.Caller
	refused error // why there is no caller, for whoever asks for one
	env     envelope
	meta    meta
	stream  *web.Stream // once the answer is a stream
	written bool
	// answered is the code of the protocol error, or the HTTP status of a challenge; 0 for a result.
	answered int
}

const (
	mediaJSON   = "application/json"
	mediaStream = "text/event-stream"
)

// The headers that a browser may send, for preflights.
const allowedHeaders = "Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, " +
	"x-aion-subject, x-aion-namespaces, x-aion-deploy, x-aion-assistant-session, traceparent, tracestate, X-Request-Id"

// admitted is steps 1 and 2: Origin, Host, method. It answers what it does not admit, and preflights.
func (x *exchange) admitted() bool {
	origin, ok := x.Origins.Admit(x.r)
	if !ok {
		x.fail(httpFault(http.StatusForbidden, "%s", refusalText(web.OriginRefused(x.r, "mcp.allowed_origins"))))
		return false
	}
	h := x.w.Header()
	if origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Vary", "Origin")
		h.Set("Access-Control-Expose-Headers", "WWW-Authenticate")
	}
	if !x.Hosts.Allows(x.r) {
		x.fail(httpFault(http.StatusForbidden, "%s", refusalText(web.HostRefused(x.r))))
		return false
	}
	switch {
	case x.r.Method == http.MethodPost:
		return true
	case x.r.Method == http.MethodOptions && origin != "" && x.r.Header.Get("Access-Control-Request-Method") != "":
		h.Set("Access-Control-Allow-Methods", http.MethodPost)
		h.Set("Access-Control-Allow-Headers", allowedHeaders)
		h.Set("Access-Control-Max-Age", "600")
		x.w.WriteHeader(http.StatusNoContent)
	default:
		h.Set("Allow", http.MethodPost)
		x.fail(httpFault(http.StatusMethodNotAllowed, "this endpoint serves POST only, not `%s`", domain.Quote(x.r.Method, 32)))
	}
	return false
}

func refusalText(err error) string {
	var refusal *domain.Error
	if errors.As(err, &refusal) {
		return refusal.Message
	}
	return "the request is not allowed"
}

// identify is step 3. A credential that HTTP must refuse is answered here; any other refusal waits for a tool call.
func (x *exchange) identify() (who access.Caller, challenged bool, refused error) {
	who, err := x.Callers.Caller(x.r)
	var challenge *web.ChallengeError
	if errors.As(err, &challenge) {
		x.answered = challenge.Status
		challenge.Write(x.w, x.r)
		return who, true, nil
	}
	who.Via = access.Via{Surface: "mcp", RequestID: web.RequestID(x.r), Remote: x.r.RemoteAddr}
	return who, false, err
}

// receive is steps 4 and 5: media types, size, framing.
func (x *exchange) receive() *fault {
	if !jsonBody(x.r.Header) {
		return httpFault(http.StatusUnsupportedMediaType, "send Content-Type application/json in UTF-8 and no Content-Encoding")
	}
	if !web.Accepts(x.r, mediaJSON) && !web.Accepts(x.r, mediaStream) {
		return httpFault(http.StatusNotAcceptable, "answers are application/json or text/event-stream; Accept admits neither")
	}
	body, err := web.ReadBody(x.w, x.r, x.MaxBodyBytes, "mcp.max_body_bytes")
	var refusal *domain.Error
	switch {
	case errors.As(err, &refusal):
		return httpFault(http.StatusRequestEntityTooLarge, "%s", refusal.Message)
	case err != nil:
		return parseFault("the body did not arrive whole")
	}
	var f *fault
	x.env, f = readEnvelope(body)
	return f
}

func jsonBody(h http.Header) bool {
	types := h.Values("Content-Type")
	if len(types) != 1 {
		return false
	}
	mediaType, params, err := mime.ParseMediaType(types[0])
	if err != nil || mediaType != mediaJSON {
		return false
	}
	if charset, given := params["charset"]; given && !strings.EqualFold(charset, "utf-8") {
		return false
	}
	for _, encoding := range h.Values("Content-Encoding") {
		if !strings.EqualFold(strings.TrimSpace(encoding), "identity") {
			return false
		}
	}
	return true
}

// agree is steps 6 to 10: header and body say the same, in a revision that is spoken.
func (x *exchange) agree() *fault {
	if x.env.method == "initialize" && !hasVersion(x.env.params) {
		requested, _ := jsontext.Text(x.env.params["protocolVersion"])
		return versionFault(requested, "this server speaks MCP revision "+Revision+" only, which has no initialize handshake: send server/discover with "+
			"MCP-Protocol-Version "+Revision+", or set your client's version negotiation to auto or to "+Revision)
	}
	version, f := matchMethod(x.r.Header, x.env.method)
	if f != nil {
		return f
	}
	if x.meta, f = readMeta(x.env.params); f != nil {
		return f
	}
	if version != x.meta.version {
		return mismatch(headerVersion, version, "params._meta[\""+keyVersion+"\"]", x.meta.version)
	}
	if version != Revision {
		return versionFault(version, "protocol version `"+domain.Quote(version, 200)+"` is not supported; send "+Revision)
	}
	return nil
}

// dispatch is steps 11 to 15. It answers what it serves and returns what it refuses.
func (x *exchange) dispatch(ctx context.Context) *fault {
	switch x.env.method {
	case "server/discover":
		if x.Tasks != nil && x.meta.tasks {
			x.succeed(x.catalogue.extended)
		} else {
			x.succeed(x.catalogue.discover)
		}
		return nil
	case "tools/list":
		if x.env.params["cursor"] != nil {
			return paramsFault("the tool list has one page; leave `cursor` out")
		}
		x.succeed(x.catalogue.list)
		return nil
	case "tools/call":
		return x.callTool(ctx)
	case "tasks/get", "tasks/update", "tasks/cancel":
		if x.Tasks != nil {
			return x.serveTask(ctx)
		}
	}
	return methodFault(x.env.method, x.Tasks != nil)
}

// named is step 12: the body's name, repeated by Mcp-Name.
func (x *exchange) named(param string) (string, *fault) {
	name, ok := jsontext.Text(x.env.params[param])
	if !ok || name == "" {
		return "", paramsFault("params.%s must be a string and not empty", param)
	}
	return name, matchName(x.r.Header, "params."+param, name)
}

// succeed answers with a result.
func (x *exchange) succeed(result []byte) {
	message := make([]byte, 0, len(result)+len(x.env.id)+40)
	message = append(message, `{"jsonrpc":"2.0","id":`...)
	message = append(append(message, x.env.id...), `,"result":`...)
	message = append(append(message, result...), '}')
	if x.stream == nil && !web.Accepts(x.r, mediaJSON) {
		x.open()
	}
	x.write(http.StatusOK, message)
}

// fail answers with a protocol error: with its own status, or as the last message of a stream that has begun.
func (x *exchange) fail(f *fault) {
	x.answered = f.code
	x.write(f.status, f.append(nil, x.env.id))
}

// open makes the answer a stream.
func (x *exchange) open() {
	x.stream = web.NewStream(x.w)
	x.written = true
}

// writeTimeout bounds the writing of one answer to a client that does not read.
const writeTimeout = 30 * time.Second

func (x *exchange) write(status int, message []byte) {
	if x.stream != nil {
		_ = x.stream.Send("message", message) // a client that left is not told
		x.stream.Close()
		return
	}
	x.written = true
	h := x.w.Header()
	h.Set("Content-Type", mediaJSON)
	h.Set("Content-Length", strconv.Itoa(len(message)))
	_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(writeTimeout)) // in-process writers have none
	x.w.WriteHeader(status)
	_, _ = x.w.Write(message) // a client that left is not told
}

// rescue turns a defect of the transport into an internal error with a reference.
func (x *exchange) rescue() {
	cause := recover()
	if x.stream != nil {
		x.stream.Close()
	}
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way: it is a signal, not an error
		panic(cause)
	}
	reference := x.reference()
	web.LogPanic(x.r, x.Log, reference, cause)
	if x.written {
		panic(http.ErrAbortHandler) // a half answer must not look whole
	}
	x.fail(internalFault(reference))
}

// reference is the id under which the log holds this request.
func (x *exchange) reference() string {
	if id := web.RequestID(x.r); id != "" {
		return id
	}
	return x.IDs.UUIDv7()
}
