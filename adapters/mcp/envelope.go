package mcp

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"aion/adapters/web/jsontext"
	"aion/domain"
)

// maxNesting is how deep a request may be nested.
const maxNesting = 512

// envelope is one JSON-RPC message. id is the token of the request, byte for byte; nil when there is none.
type envelope struct {
	id           []byte
	method       string
	params       map[string]json.RawMessage
	notification bool
}

// The known member names: another spelling of one of them is refused, because a proxy that ignores case would read a
// different message than the server.
func envelopeMembers() []string {
	return []string{"jsonrpc", "id", "method", "params", "result", "error"}
}

func paramMembers() []string {
	return []string{"_meta", "name", "arguments", "cursor", "taskId", "inputResponses", "requestState", "task", "protocolVersion"}
}

// readEnvelope is the framing (mcp 1.3). The envelope of a fault holds the id when it could be read.
func readEnvelope(body []byte) (envelope, *fault) {
	var env envelope
	var repeated *jsontext.Error
	if err := jsontext.Check(body, maxNesting); err != nil {
		if !errors.As(err, &repeated) || repeated.Fault != jsontext.Repeated {
			return env, parseFault("the body is not one JSON value: %s", err)
		}
	}
	members, ok := jsontext.Members(body)
	if !ok {
		return env, requestFault("the body must be one JSON-RPC request object; batches and other values are not served")
	}
	id, f := readID(members)
	if f != nil {
		return env, f
	}
	env.id = id
	if repeated != nil {
		return env, requestFault("member `%s` occurs twice in one object (byte %d); every name must stand once", domain.Quote(repeated.Name, 200), repeated.Offset)
	}
	if f := foreignCase(members, envelopeMembers(), "the request"); f != nil {
		return env, f
	}
	return readRequest(env, members)
}

// readID finds the id token. Without a readable one the fault, and every later one, is answered without.
func readID(members []jsontext.Member) ([]byte, *fault) {
	var id []byte
	for _, m := range members {
		if m.Name != "id" {
			continue
		}
		if id != nil {
			return nil, requestFault("member `id` occurs twice in one object; every name must stand once")
		}
		id = m.Value
	}
	if id == nil || jsontext.KindOf(id) == jsontext.String {
		return id, nil
	}
	const largest = 1<<53 - 1
	if n, whole := jsontext.Integer(id); !whole || n < -largest || n > largest {
		return nil, requestFault("id must be a string or an integer within ±(2^53 - 1), not `%s`", domain.Quote(string(id), 200))
	}
	return id, nil
}

func readRequest(env envelope, members []jsontext.Member) (envelope, *fault) {
	parts := map[string][]byte{}
	for _, m := range members {
		parts[m.Name] = m.Value
	}
	if version, _ := jsontext.Text(parts["jsonrpc"]); version != "2.0" {
		return env, requestFault("jsonrpc must be the string 2.0")
	}
	if parts["result"] != nil || parts["error"] != nil {
		return env, requestFault("the body is a response; the server sends no requests and takes none")
	}
	env.method, _ = jsontext.Text(parts["method"])
	if env.method == "" {
		return env, requestFault("method must be a string and not empty")
	}
	if env.id == nil {
		env.notification = strings.HasPrefix(env.method, "notifications/")
		if !env.notification {
			return env, requestFault("the request `%s` has no id; give one, or its answer would be lost", domain.Quote(env.method, 200))
		}
		return env, nil // no effect, whatever its parameters
	}
	return readParams(env, parts["params"])
}

func readParams(env envelope, raw []byte) (envelope, *fault) {
	env.params = map[string]json.RawMessage{}
	if raw == nil {
		return env, nil
	}
	members, ok := jsontext.Members(raw)
	if !ok {
		return env, paramsFault("params must be an object")
	}
	if f := foreignCase(members, paramMembers(), "params"); f != nil {
		return env, f
	}
	for _, m := range members {
		env.params[m.Name] = m.Value
	}
	meta, ok := jsontext.Members(env.params["_meta"])
	if !ok {
		return env, nil // said later, when the metadata is due
	}
	return env, foreignCase(meta, metaKeys(), "params._meta")
}

// foreignCase refuses a name that differs from a known one only in case.
func foreignCase(members []jsontext.Member, known []string, where string) *fault {
	for _, m := range members {
		if slices.Contains(known, m.Name) {
			continue
		}
		for _, name := range known {
			if strings.EqualFold(m.Name, name) {
				return requestFault("member `%s` of %s differs from `%s` only in case; write `%s`", domain.Quote(m.Name, 200), where, name, name)
			}
		}
	}
	return nil
}
