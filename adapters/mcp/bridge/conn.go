package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"aion/adapters/mcp"
	"aion/adapters/web/jsontext"
	"aion/domain"
)

// conn is the client's side: what it agreed on and which of its calls are open.
type conn struct {
	*Bridge
	out   *output
	calls sync.WaitGroup

	mu       sync.Mutex
	open     map[string]context.CancelCauseFunc // by idKey
	held     int                                // bytes of the open calls
	revision string                             // agreed by initialize; empty before it
	client   []byte                             // clientInfo of initialize; nil: none
}

// reply takes the answer of one request; nil: it gets none. It is called once.
type reply func(message []byte)

func (c *conn) send(message []byte) {
	if message != nil {
		c.out.send(message)
	}
}

// take handles one line.
func (c *conn) take(ctx context.Context, l line) {
	if l.tooLong {
		f := &fault{codeRequest, fmt.Sprintf("the message has more than %d bytes", maxLine)}
		id := l.id
		if jsontext.Check(id, 1) != nil || idKey(id) == "" {
			id = nil
		}
		c.out.send(f.answer(nil).encode(id))
		return
	}
	var wrong *jsontext.Error
	if err := jsontext.Check(l.text, maxNesting); errors.As(err, &wrong) && wrong.Fault != jsontext.Repeated {
		c.out.send((&fault{codeParse, "the line is not one JSON value: " + wrong.Error()}).answer(nil).encode(nil))
		return
	}
	if jsontext.KindOf(l.text) == jsontext.Array {
		c.batch(ctx, l.text)
		return
	}
	m, f := readMessage(l.text)
	if f == nil && wrong != nil {
		f = &fault{codeRequest, wrong.Error()}
	}
	c.dispatch(ctx, m, f, c.send)
}

// dispatch handles one message. reply is called for every message, also for one that gets no answer.
func (c *conn) dispatch(ctx context.Context, m message, f *fault, reply reply) {
	switch {
	case f != nil:
		reply(f.answer(nil).encode(m.id))
	case m.method == "":
		c.Log.LogAttrs(ctx, slog.LevelWarn, "a response was dropped: the bridge asks nothing")
		reply(nil)
	case m.id == nil:
		c.notice(m)
		reply(nil)
	case m.method == "ping":
		reply(answer{result: []byte(`{}`)}.encode(m.id))
	case m.method == "initialize" && m.version == "":
		if f := c.agree(m); f != nil {
			reply(f.answer(nil).encode(m.id))
			return
		}
		c.start(ctx, m, reply)
	default:
		c.start(ctx, m, reply)
	}
}

// notice takes a notification. Only cancellation has an effect: the server keeps nothing that the others could change.
func (c *conn) notice(m message) {
	if m.method != "notifications/cancelled" {
		return
	}
	key := idKey(member(m.params, "requestId"))
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.open[key]; cancel != nil {
		cancel(errCancelled)
	}
}

// start runs one request beside the others.
func (c *conn) start(ctx context.Context, m message, reply reply) {
	ctx, cancel := context.WithCancelCause(ctx)
	if err := c.admit(m, cancel); err != nil {
		cancel(nil)
		reply(err.encode(m.id))
		return
	}
	c.calls.Go(func() {
		defer cancel(nil)
		a := c.answer(ctx, m)
		c.release(m)
		if errors.Is(context.Cause(ctx), errCancelled) {
			reply(nil)
			return
		}
		reply(a.encode(m.id))
	})
}

// admit enters a call among the open ones, or answers why it cannot be.
func (c *conn) admit(m message, cancel context.CancelCauseFunc) *answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[m.key] != nil {
		a := (&fault{codeRequest, "a call with this id is still open; give every call an id of its own"}).answer(nil)
		return &a
	}
	if len(c.open) >= maxCalls || c.held > 0 && c.held+len(m.text) > maxHeld {
		a := refuse(m.method, &domain.Error{Code: domain.CodeResourceExhausted, Type: "TooManyCalls", Message: fmt.Sprintf(
			"%d calls with %d bytes are open; wait for their answers and repeat this one", len(c.open), c.held)})
		return &a
	}
	c.open[m.key] = cancel
	c.held += len(m.text)
	return nil
}

func (c *conn) release(m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, m.key)
	c.held -= len(m.text)
}

// answer asks the server. A request that brings the metadata of the present revision passes as it is.
func (c *conn) answer(ctx context.Context, m message) answer {
	if m.version == "" {
		return c.translate(ctx, m)
	}
	a, err := c.up.post(ctx, request{method: m.method, name: nameOf(m), version: m.version, body: m.text}, c.out.send)
	if err == nil {
		return a
	}
	c.log(ctx, m, err)
	if m.version == mcp.Revision {
		switch m.method {
		case "server/discover":
			return answer{result: c.shown.bundled.discover}
		case "tools/list":
			return answer{result: c.shown.bundled.list}
		}
	}
	return refuse(m.method, err)
}

// log tells why a call was refused here; not when the client gave it up.
func (c *conn) log(ctx context.Context, m message, err error) {
	if ctx.Err() == nil {
		c.Log.LogAttrs(ctx, slog.LevelWarn, "a call was refused", slog.String("method", domain.Quote(m.method, 100)), slog.Any("error", err))
	}
}

// nameOf is what Mcp-Name must repeat; empty: nothing.
func nameOf(m message) string {
	name := ""
	switch m.method {
	case "tools/call":
		name, _ = jsontext.Text(member(m.params, "name"))
	case "tasks/get", "tasks/update", "tasks/cancel":
		name, _ = jsontext.Text(member(m.params, "taskId"))
	}
	return name
}
