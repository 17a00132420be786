package bridge

import (
	"context"
	"slices"
	"strings"
	"time"

	"aion/adapters/mcp"
	"aion/adapters/web/jsontext"
	"aion/domain"
)

// revisions are those that begin with initialize, newest first.
func revisions() []string { return []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} }

// greeting bounds how long initialize waits for the server: a client must not wait for one that is away.
const greeting = 5 * time.Second

// agree takes what initialize says. The answer names the client's own revision when it is spoken, else the newest.
func (c *conn) agree(m message) *fault {
	wanted, ok := jsontext.Text(member(m.params, "protocolVersion"))
	if !ok {
		return &fault{codeParams, "params.protocolVersion must be a string"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revision = revisions()[0]
	if slices.Contains(revisions(), wanted) {
		c.revision = wanted
	}
	if info := member(m.params, "clientInfo"); jsontext.KindOf(info) == jsontext.Object {
		c.client = info
	}
	return nil
}

// translate answers a request of an older revision.
func (c *conn) translate(ctx context.Context, m message) answer {
	switch m.method {
	case "initialize":
		return c.initialize(ctx)
	case "tools/list":
		if cursor := member(m.params, "cursor"); cursor != nil {
			return (&fault{codeParams, "the tool list has one page; leave `cursor` out"}).answer(nil)
		}
		return answer{result: older(c.shown.list(ctx))}
	case "tools/call":
		return c.call(ctx, m)
	}
	return (&fault{codeMethod, "there is no method `" + domain.Quote(m.method, 200) + "`; this server has tools only: tools/list and tools/call"}).answer(nil)
}

func (c *conn) initialize(ctx context.Context) answer {
	c.mu.Lock()
	revision := c.revision
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	discovered := c.shown.discover(ctx)
	out := domain.AppendText([]byte(`{"protocolVersion":`), revision)
	out = append(out, `,"capabilities":{"tools":{}}`...)
	info := member(member(discovered, "_meta"), keyServer)
	if jsontext.KindOf(info) != jsontext.Object {
		info = []byte(`{"name":"aion","version":""}`)
	}
	out = appendMember(out, "serverInfo", info)
	if text := member(discovered, "instructions"); jsontext.KindOf(text) == jsontext.String {
		out = appendMember(out, "instructions", text)
	}
	return answer{result: append(out, '}')}
}

// call sends a tool call as one of the present revision. Such a client declares no extension; the progress token and what
// else its metadata holds go along.
func (c *conn) call(ctx context.Context, m message) answer {
	c.mu.Lock()
	client := c.client
	c.mu.Unlock()
	params := []byte{'{'}
	var meta []byte
	members, _ := jsontext.Members(m.params)
	for _, one := range members {
		switch one.Name {
		case "_meta":
			meta = one.Value
		case "task": // of the experimental tasks of 2025-11-25, which were never offered
		default:
			params = appendMember(params, one.Name, one.Value)
		}
	}
	params = append(appendMember(params, "_meta", metadata(meta, client)), '}')
	body := []byte(`{"jsonrpc":"2.0","method":"tools/call"`)
	body = append(appendMember(appendMember(body, "id", m.id), "params", params), '}')
	a, err := c.up.post(ctx, request{method: m.method, name: nameOf(m), version: mcp.Revision, body: body}, c.out.send)
	if err != nil {
		c.log(ctx, m, err)
		a = refuse(m.method, err)
	}
	if a.result != nil {
		a.result = older(a.result)
	}
	return a
}

// metadata is that of a request of the present revision: what it must hold, and the client's own keys.
func metadata(own, client []byte) []byte {
	out := appendMember([]byte{'{'}, keyVersion, []byte(`"`+mcp.Revision+`"`))
	out = appendMember(out, keyCapabilities, []byte(`{}`))
	if client != nil {
		out = appendMember(out, keyClient, client)
	}
	members, _ := jsontext.Members(own)
	for _, one := range members {
		if !strings.HasPrefix(one.Name, keyReserved) {
			out = appendMember(out, one.Name, one.Value)
		}
	}
	return append(out, '}')
}

// older drops from a result what came with the present revision.
func older(result []byte) []byte {
	members, ok := jsontext.Members(result)
	if !ok {
		return result
	}
	out := []byte{'{'}
	for _, one := range members {
		switch one.Name {
		case "resultType", "ttlMs", "cacheScope":
		default:
			out = appendMember(out, one.Name, one.Value)
		}
	}
	return append(out, '}')
}
