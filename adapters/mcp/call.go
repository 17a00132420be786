package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"aion/adapters/web"
	"aion/adapters/web/jsontext"
	"aion/domain"
)

var errCallTimeout = errors.New("the call took too long")

// callTool is steps 12 to 15 of tools/call.
func (x *exchange) callTool(ctx context.Context) *fault {
	name, f := x.named("name")
	if f != nil {
		return f
	}
	t := x.catalogue.tools[name]
	if t == nil {
		return paramsFault("%s", x.catalogue.unknownTool(name))
	}
	raw := []byte(x.env.params["arguments"])
	if raw == nil {
		raw = []byte("{}")
	}
	if jsontext.KindOf(raw) != jsontext.Object {
		return paramsFault("params.arguments must be an object; leave it out when there are none")
	}
	if violations := t.input.Validate(raw); len(violations) > 0 {
		return argumentsFault(name, violations)
	}
	call := Call{Tool: name, Caller: x.caller, Arguments: split(raw), Progress: func(int, int) {}}
	switch {
	case !t.becomesTask(call.Arguments):
		x.run(ctx, t, call)
	case !x.meta.tasks:
		return x.needsTasks(t)
	default:
		x.createTask(ctx, call, raw)
	}
	return nil
}

// needsTasks refuses a call that becomes a task to a client that did not declare them.
func (x *exchange) needsTasks(t *tool) *fault {
	const needs = "needs the extension " + tasksExtension + ", declared in the clientCapabilities of this request"
	if t.deferred {
		return capabilityFault("%s "+needs, t.name)
	}
	without := fmt.Sprintf("%s with `%s` "+needs+"; or call it without `%s`", t.name, t.awaits, t.awaits)
	if t.instead != "" {
		without += " and follow it with " + t.instead
	}
	return capabilityFault("%s", without)
}

// turnedAway is why a caller's call reaches no tool; nil when it does.
func (x *exchange) turnedAway(now time.Time) error {
	if err := x.rates.Take(x.caller, now); err != nil {
		return err
	}
	return x.refused
}

// outcome is how a call came out: the body of its result, or why there is none.
type outcome struct {
	body []byte
	err  error
}

// run is step 15: from here on every refusal is a result.
func (x *exchange) run(ctx context.Context, t *tool, call Call) {
	begin := time.Now()
	if refusal := x.turnedAway(begin); refusal != nil {
		x.finish(ctx, call, begin, outcome{err: refusal})
		return
	}
	if t.progress && x.meta.progressToken != nil && web.AcceptsByName(x.r, mediaStream) {
		x.open()
		call.Progress = x.progress()
	}
	out, f := x.invoke(ctx, call)
	if f != nil {
		x.report(ctx, call, begin, &domain.Error{Code: domain.CodeBackend, Type: "Internal"})
		x.fail(f)
		return
	}
	x.finish(ctx, call, begin, out)
}

// invoke calls the service and encodes its result. A panic in it, and a result that cannot be encoded, is a protocol
// error; the server goes on.
func (x *exchange) invoke(ctx context.Context, call Call) (out outcome, f *fault) {
	defer func() {
		if cause := recover(); cause != nil {
			reference := x.reference()
			web.LogPanic(x.r, x.Log, reference, cause)
			f = internalFault(reference)
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, x.CallTimeout, errCallTimeout)
	defer cancel()
	result, err := x.service.Call(ctx, call)
	if err != nil {
		return outcome{err: x.late(ctx, err)}, nil
	}
	return outcome{body: x.encodeResult(result)}, nil
}

// late says of a call that met its deadline that it did.
func (x *exchange) late(ctx context.Context, err error) error {
	if !errors.Is(context.Cause(ctx), errCallTimeout) || isRefusal(err) {
		return err
	}
	return domain.Unavailable("DeadlineExceeded", fmt.Sprintf(
		"the call did not end within %s; what it wrote so far is kept, so look first and then repeat it later", x.CallTimeout), err)
}

// finish answers a call with its result or its refusal.
func (x *exchange) finish(ctx context.Context, call Call, begin time.Time, out outcome) {
	if out.err != nil {
		refusal := x.refusal(ctx, out.err)
		x.report(ctx, call, begin, refusal)
		x.succeed(x.encodeRefusal(refusal, nil))
		return
	}
	x.report(ctx, call, begin, nil)
	x.succeed(out.body)
}

// report logs and counts a call, and audits a refused one.
func (x *exchange) report(ctx context.Context, call Call, begin time.Time, refusal *domain.Error) {
	code := outcomeOK
	if refusal != nil {
		code = string(refusal.Code)
	}
	x.logCall(ctx, call, begin, refusal)
	x.Meter.MCPToolCall(call.Tool, code, time.Since(begin))
	x.audit(ctx, x.catalogue.tools[call.Tool], call, refusal)
}

// encodeResult writes a success. A value that cannot be encoded panics: it is a defect of the tool.
func (x *exchange) encodeResult(result Result) []byte {
	if result.Value == nil {
		return x.encodeText(nil, result.Text)
	}
	encoded, err := Encode(result.Value)
	if err != nil {
		panic(fmt.Errorf("encode a result: %w", err))
	}
	return x.encodeValue(encoded)
}

// encodeValue writes a success with structured content and its copy as text.
func (x *exchange) encodeValue(structured []byte) []byte {
	return x.encodeText(structured, string(structured))
}

func (x *exchange) encodeText(structured []byte, text string) []byte {
	body := make([]byte, 0, 2*len(text)+len(text)/4+len(x.catalogue.info)+128)
	body = append(body, `{"resultType":"complete","isError":false,`...)
	if structured != nil {
		body = append(append(append(body, `"structuredContent":`...), structured...), ',')
	}
	body = append(body, `"content":[{"type":"text","text":`...)
	body = domain.AppendText(body, text)
	body = append(append(body, `}],`...), x.catalogue.info...)
	return append(body, '}')
}

// progress sends rising progress for the token of this request.
func (x *exchange) progress() func(done, total int) {
	last := 0
	return func(done, total int) {
		if done <= last {
			return
		}
		last = done
		_ = x.stream.Send("message", fmt.Appendf(nil, // a client that left is not told
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":%d}}`, x.meta.progressToken, done, total))
	}
}

// logCall writes one line per call: never arguments or results.
func (x *exchange) logCall(ctx context.Context, call Call, begin time.Time, refusal *domain.Error) {
	level, code, kind := slog.LevelDebug, "ok", ""
	if refusal != nil {
		level, code, kind = slog.LevelInfo, string(refusal.Code), refusal.Type
	}
	if !x.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", web.RequestID(x.r)), slog.String("subject", x.caller.Subject), slog.String("tool", call.Tool),
		slog.String("code", code), slog.Int64("duration_ms", time.Since(begin).Milliseconds()),
	}
	if kind != "" {
		attrs = append(attrs, slog.String("error_type", kind))
	}
	if x.meta.client != "" {
		attrs = append(attrs, slog.String("client", x.meta.client))
	}
	if x.meta.traceID != "" {
		attrs = append(attrs, slog.String("trace_id", x.meta.traceID))
	}
	x.Log.LogAttrs(ctx, level, "tool call", attrs...)
}
