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
	if t.awaits != "" && call.Arguments.True(t.awaits) {
		return capabilityFault("%s with `%s` needs the extension %s, which this server does not serve; call it without `%s`", name, t.awaits, tasksExtension, t.awaits)
	}
	x.run(ctx, t, call)
	return nil
}

// run is step 15: from here on every refusal is a result.
func (x *exchange) run(ctx context.Context, t *tool, call Call) {
	begin := time.Now()
	if wait, ok := x.rates.take(x.caller, begin); !ok {
		x.finish(ctx, call, begin, nil, &domain.Error{Code: domain.CodeResourceExhausted, Type: "RateLimited", Message: fmt.Sprintf(
			"more than %d tool calls per second; wait %d ms and repeat the call", x.RatePerSecond, wait.Milliseconds())})
		return
	}
	if x.refused != nil {
		x.finish(ctx, call, begin, nil, x.refused)
		return
	}
	if t.progress && x.meta.progressToken != nil && web.AcceptsByName(x.r, mediaStream) {
		x.open()
		call.Progress = x.progress()
	}
	body, f, err := x.invoke(ctx, call)
	if f != nil {
		x.logCall(ctx, call, begin, &domain.Error{Code: domain.CodeBackend, Type: "Internal"})
		x.fail(f)
		return
	}
	x.finish(ctx, call, begin, body, err)
}

// invoke calls the service and encodes its result. A panic in it, and a result that cannot be encoded, is a protocol
// error; the server goes on.
func (x *exchange) invoke(ctx context.Context, call Call) (body []byte, f *fault, err error) {
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
	if err == nil {
		return x.encodeResult(result), nil, nil
	}
	if errors.Is(context.Cause(ctx), errCallTimeout) && !isRefusal(err) {
		err = domain.Unavailable("DeadlineExceeded", fmt.Sprintf(
			"the call did not end within %s; what it wrote so far is kept, so look first and then repeat it later", x.CallTimeout), err)
	}
	return nil, nil, err
}

// finish answers a call with its result or its refusal.
func (x *exchange) finish(ctx context.Context, call Call, begin time.Time, body []byte, err error) {
	if err != nil {
		refusal := x.refusal(ctx, err)
		x.logCall(ctx, call, begin, refusal)
		x.succeed(x.encodeRefusal(refusal))
		return
	}
	x.logCall(ctx, call, begin, nil)
	x.succeed(body)
}

// encodeResult writes a success. A value that cannot be encoded panics: it is a defect of the tool.
func (x *exchange) encodeResult(result Result) []byte {
	text := result.Text
	var structured []byte
	if result.Value != nil {
		encoded, err := Encode(result.Value)
		if err != nil {
			panic(fmt.Errorf("encode a result: %w", err))
		}
		structured, text = encoded, string(encoded)
	}
	body := make([]byte, 0, 2*len(text)+len(text)/4+len(x.catalogue.info)+128)
	body = append(body, `{"resultType":"complete","isError":false,`...)
	if structured != nil {
		body = append(append(append(body, `"structuredContent":`...), structured...), ',')
	}
	body = append(body, `"content":[{"type":"text","text":`...)
	body = jsontext.AppendText(body, text)
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
