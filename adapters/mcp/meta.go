package mcp

import (
	"encoding/json"
	"regexp"
	"strings"

	"aion/adapters/web/jsontext"
	"aion/domain"
)

// The metadata keys of a request (mcp 1.4).
const (
	keyVersion      = "io.modelcontextprotocol/protocolVersion"
	keyCapabilities = "io.modelcontextprotocol/clientCapabilities"
	keyClient       = "io.modelcontextprotocol/clientInfo"
	keyLogLevel     = "io.modelcontextprotocol/logLevel"
	keyProgress     = "progressToken"
	keyTrace        = "traceparent"
)

func metaKeys() []string {
	return []string{keyVersion, keyCapabilities, keyClient, keyLogLevel, keyProgress, keyTrace, "tracestate"}
}

// meta is what a request says about itself and its client.
type meta struct {
	version       string
	tasks         bool   // the tasks extension is declared for this request
	progressToken []byte // the token, byte for byte; nil: none
	client        string // name and version, for the log
	traceID       string // of a well-formed traceparent
}

// split takes an object apart; nil for any other value.
func split(object []byte) map[string]json.RawMessage {
	list, ok := jsontext.Members(object)
	if !ok {
		return nil
	}
	parts := make(map[string]json.RawMessage, len(list))
	for _, m := range list {
		parts[m.Name] = m.Value
	}
	return parts
}

func readMeta(params map[string]json.RawMessage) (meta, *fault) {
	var m meta
	parts := split(params["_meta"])
	var wrong []string
	version, ok := jsontext.Text(parts[keyVersion])
	if !ok {
		wrong = append(wrong, keyVersion+" (a string)")
	}
	if jsontext.KindOf(parts[keyCapabilities]) != jsontext.Object {
		wrong = append(wrong, keyCapabilities+" (an object)")
	}
	if wrong != nil {
		return m, paramsFault("params._meta must hold %s on every request", strings.Join(wrong, " and "))
	}
	m.version = version
	extensions := split(split(parts[keyCapabilities])["extensions"])
	m.tasks = jsontext.KindOf(extensions[tasksExtension]) == jsontext.Object
	if token := parts[keyProgress]; token != nil {
		if _, whole := jsontext.Integer(token); !whole && jsontext.KindOf(token) != jsontext.String {
			return m, paramsFault("params._meta.progressToken must be a string or an integer")
		}
		m.progressToken = token
	}
	m.client = clientName(parts[keyClient])
	m.traceID = traceID(parts[keyTrace])
	return m, nil
}

// hasVersion reports whether the metadata names a protocol version at all.
func hasVersion(params map[string]json.RawMessage) bool {
	return split(params["_meta"])[keyVersion] != nil
}

func clientName(info []byte) string {
	parts := split(info)
	name, _ := jsontext.Text(parts["name"])
	version, _ := jsontext.Text(parts["version"])
	return strings.TrimSpace(domain.Quote(name, 200) + " " + domain.Quote(version, 200))
}

var traceShape = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$`)

// traceID reads a W3C traceparent; empty when it is not well-formed.
func traceID(raw []byte) string {
	text, _ := jsontext.Text(raw)
	parts := traceShape.FindStringSubmatch(text)
	if parts == nil || strings.HasPrefix(text, "ff") || strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return ""
	}
	return parts[1]
}
