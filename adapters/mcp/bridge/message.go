package bridge

import (
	"strconv"

	"aion/adapters/web/jsontext"
	"aion/domain"
)

// The codes of JSON-RPC that the bridge itself answers with.
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
)

// The metadata keys of revision 2026-07-28.
const (
	keyReserved     = "io.modelcontextprotocol/"
	keyVersion      = keyReserved + "protocolVersion"
	keyCapabilities = keyReserved + "clientCapabilities"
	keyClient       = keyReserved + "clientInfo"
	keyServer       = keyReserved + "serverInfo"
)

// message is one JSON-RPC message of the client.
type message struct {
	text    []byte // as it came
	id      []byte // its token, byte for byte; nil: a notification
	key     string // equal for equal ids, however they are written
	method  string
	params  []byte // nil: absent
	version string // of its own metadata: a request of 2026-07-28 or later; empty: an older one
}

// fault is a protocol error.
type fault struct {
	code    int
	message string
}

// readMessage takes one JSON-RPC object apart. A response has no method; it is a message, because it must not be
// answered. With a fault the message has the id when it could be read.
func readMessage(text []byte) (message, *fault) {
	m := message{text: text}
	members, ok := jsontext.Members(text)
	if !ok {
		return m, &fault{codeRequest, "a message is one JSON-RPC object"}
	}
	parts := map[string][]byte{}
	for _, one := range members {
		if parts[one.Name] != nil {
			return m, &fault{codeRequest, "member `" + domain.Quote(one.Name, 200) + "` occurs twice in the message"}
		}
		parts[one.Name] = one.Value
	}
	if id := parts["id"]; id != nil {
		if m.key = idKey(id); m.key == "" {
			return m, &fault{codeRequest, "id must be a string or an integer"}
		}
		m.id = id
	}
	if version, _ := jsontext.Text(parts["jsonrpc"]); version != "2.0" {
		return m, &fault{codeRequest, "jsonrpc must be the string 2.0"}
	}
	response := parts["result"] != nil || parts["error"] != nil
	if parts["method"] == nil && response {
		return m, nil
	}
	if m.method, _ = jsontext.Text(parts["method"]); m.method == "" {
		return m, &fault{codeRequest, "method must be a string and not empty"}
	}
	m.params = parts["params"]
	if m.params != nil && jsontext.KindOf(m.params) != jsontext.Object {
		return m, &fault{codeParams, "params must be an object"}
	}
	m.version, _ = jsontext.Text(member(member(m.params, "_meta"), keyVersion))
	return m, nil
}

// idKey is the same for ids that are the same; empty for what is no id.
func idKey(id []byte) string {
	if text, ok := jsontext.Text(id); ok {
		return "s" + text
	}
	if n, whole := jsontext.Integer(id); whole {
		return "n" + strconv.FormatInt(n, 10)
	}
	return ""
}

// member is the first member of that name of an object; nil when there is none.
func member(object []byte, name string) []byte {
	members, _ := jsontext.Members(object)
	for _, one := range members {
		if one.Name == name {
			return one.Value
		}
	}
	return nil
}

// appendMember writes one member and the comma before it when it is not the first.
func appendMember(dst []byte, name string, value []byte) []byte {
	if len(dst) > 0 && dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = domain.AppendText(dst, name)
	return append(append(dst, ':'), value...)
}
