package transport_test

import (
	"net/http"
	"strings"
	"testing"

	"aion/test/mcp/wire"
)

const body = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"},` + wire.Meta + `}}`

func change(old, by string) string { return strings.Replace(body, old, by, 1) }

// mcp 10, report 68
func TestFraming(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for name, c := range map[string]struct {
		body string
		code int
		id   string
	}{
		"empty":                    {"", -32700, ""},
		"blank":                    {" \n", -32700, ""},
		"invalid UTF-8":            {change("Ada", "A\xffa"), -32700, ""},
		"byte order mark":          {"\xef\xbb\xbf" + body, -32700, ""},
		"truncated":                {body[:len(body)-2], -32700, ""},
		"trailing bytes":           {body + "{}", -32700, ""},
		"nesting 513":              {change(`"Ada"`, strings.Repeat("[", 510)+strings.Repeat("]", 510)), -32700, ""},
		"batch":                    {"[" + body + "]", -32600, ""},
		"empty batch":              {"[]", -32600, ""},
		"text":                     {`"x"`, -32600, ""},
		"null":                     {`null`, -32600, ""},
		"no jsonrpc":               {change(`"jsonrpc":"2.0",`, ""), -32600, "7"},
		"jsonrpc 1.0":              {change(`"2.0"`, `"1.0"`), -32600, "7"},
		"jsonrpc a number":         {change(`"2.0"`, `2.0`), -32600, "7"},
		"no method":                {change(`"method":"tools/call",`, ""), -32600, "7"},
		"empty method":             {change(`"tools/call"`, `""`), -32600, "7"},
		"method a number":          {change(`"tools/call"`, `1`), -32600, "7"},
		"response":                 {`{"jsonrpc":"2.0","id":7,"result":{}}`, -32600, "7"},
		"error response":           {`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}`, -32600, "7"},
		"request and response":     {change(`"params"`, `"result":{},"params"`), -32600, "7"},
		"id null":                  {change(`"id":7`, `"id":null`), -32600, ""},
		"id true":                  {change(`"id":7`, `"id":true`), -32600, ""},
		"id object":                {change(`"id":7`, `"id":{}`), -32600, ""},
		"id array":                 {change(`"id":7`, `"id":[7]`), -32600, ""},
		"id 1.5":                   {change(`"id":7`, `"id":1.5`), -32600, ""},
		"id 2^53":                  {change(`"id":7`, `"id":9007199254740992`), -32600, ""},
		"id 1e400":                 {change(`"id":7`, `"id":1e400`), -32600, ""},
		"params array":             {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}`, -32602, "7"},
		"params null":              {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":null}`, -32602, "7"},
		"no id":                    {change(`"id":7,`, ""), -32600, ""},
		"Method alone":             {change(`"method"`, `"Method"`), -32600, "7"},
		"Method beside method":     {change(`"method"`, `"Method":"tools/list","method"`), -32600, "7"},
		"ID beside id":             {change(`"id":7`, `"id":7,"ID":8`), -32600, "7"},
		"long s in params":         {change(`"params"`, `"param\u017f":{},"params"`), -32600, "7"},
		"method twice":             {change(`"method"`, `"method":"tools/list","method"`), -32600, "7"},
		"method twice, escaped":    {change(`"method"`, `"\u006dethod":"tools/list","method"`), -32600, "7"},
		"id twice":                 {change(`"id":7`, `"id":7,"id":7`), -32600, ""},
		"Name in params":           {change(`"name":"greet"`, `"name":"greet","Name":"panic"`), -32600, "7"},
		"Arguments in params":      {change(`"arguments"`, `"Arguments"`), -32600, "7"},
		"name twice in arguments":  {change(`"name":"Ada"`, `"name":"Ada","name":"Bob"`), -32600, "7"},
		"_META":                    {change(`"_meta"`, `"_META"`), -32600, "7"},
		"progresstoken":            {change(`"_meta":{`, `"_meta":{"progresstoken":1,`), -32600, "7"},
		"protocolVersion in upper": {change(`protocolVersion`, `PROTOCOLVERSION`), -32600, "7"},
	} {
		r := wire.Raw(c.id, "tools/call", c.body).With("Mcp-Name", "greet").Wrong()
		wantCode(t, name, s.Send(t, r), http.StatusBadRequest, c.code)
	}
	if s.reached() != 0 {
		t.Errorf("%d wrong requests reached a tool", s.reached())
	}
}

// mcp 10: what is not wrong is served.
func TestUnknownMembersAndDeepValuesAreServed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for name, sent := range map[string]string{
		"unknown members":      change(`"params":{`, `"extra":1,"params":{"extra":2,"NAME2":3,`),
		"unknown metadata":     change(`"_meta":{`, `"_meta":{"example.test/x":{"Method":1},`),
		"white space":          " \r\n\t" + body + "\n",
		"nesting 512":          change(`"params":{`, `"x":`+strings.Repeat("[", 511)+strings.Repeat("]", 511)+`,"params":{`),
		"same name in another": change(`"params":{`, `"x":{"id":1,"Method":2},"params":{`),
	} {
		wantServed(t, name, s.Send(t, wire.Raw("7", "tools/call", sent).With("Mcp-Name", "greet").Wrong()))
	}
}

// mcp 11
func TestIDComesBackByteForByte(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, id := range []string{`0`, `""`, `"x"`, `-1`, `9007199254740991`, `-9007199254740991`, `"0"`, `"\u00e4\n"`, `7.0`, `1e2`, `"` + strings.Repeat("i", 1000) + `"`} {
		wantServed(t, id, s.Send(t, wire.Tool(id, "greet", `{"name":"Ada"}`)))
		wantCode(t, id, s.Send(t, wire.RPC(id, "unknown/method", "")), http.StatusNotFound, -32601)
	}
}

// mcp 12
func TestNotificationsAreAcceptedWithoutEffect(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, method := range []string{"notifications/cancelled", "notifications/initialized", "notifications/unknown", "notifications/"} {
		for _, params := range []string{"", `,"params":{"requestId":7}`, `,"params":[1]`, `,"params":{"_META":1}`} {
			r := wire.Raw("", "", `{"jsonrpc":"2.0","method":"`+method+`"`+params+`}`).With("Mcp-Protocol-Version", "v0").Wrong()
			if reply := s.Send(t, r); reply.Status != http.StatusAccepted || len(reply.Body) != 0 {
				t.Errorf("%s%s: status %d, body %q", method, params, reply.Status, reply.Body)
			}
		}
	}
	wantCode(t, "with an id it is a request", s.Send(t, wire.RPC("1", "notifications/cancelled", "")), http.StatusNotFound, -32601)
}
