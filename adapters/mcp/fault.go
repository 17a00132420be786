package mcp

import (
	"fmt"
	"net/http"
	"strconv"

	"aion/adapters/mcp/schema"
	"aion/domain"
)

// The error codes of the protocol (mcp 2.1); no other is ever sent.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeHeader         = -32020
	codeCapability     = -32021
	codeVersion        = -32022
)

// fault is a protocol error: the request was wrong before any tool saw it.
type fault struct {
	status  int
	code    int
	message string
	data    []byte // JSON; nil: none
}

// append writes the answer for the request id; none when the id could not be read.
func (f *fault) append(dst, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if id != nil {
		dst = append(append(append(dst, `"id":`...), id...), ',')
	}
	return append(f.appendError(append(dst, `"error":`...)), '}')
}

// appendError writes the error object alone.
func (f *fault) appendError(dst []byte) []byte {
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, int64(f.code), 10)
	dst = append(dst, `,"message":`...)
	dst = domain.AppendText(dst, f.message)
	if f.data != nil {
		dst = append(append(dst, `,"data":`...), f.data...)
	}
	return append(dst, '}')
}

func parseFault(format string, args ...any) *fault {
	return &fault{status: http.StatusBadRequest, code: codeParse, message: fmt.Sprintf(format, args...)}
}

func requestFault(format string, args ...any) *fault {
	return &fault{status: http.StatusBadRequest, code: codeInvalidRequest, message: fmt.Sprintf(format, args...)}
}

// httpFault refuses by a rule of HTTP; such answers never have an id.
func httpFault(status int, format string, args ...any) *fault {
	return &fault{status: status, code: codeInvalidRequest, message: fmt.Sprintf(format, args...)}
}

func paramsFault(format string, args ...any) *fault {
	return &fault{status: http.StatusBadRequest, code: codeInvalidParams, message: fmt.Sprintf(format, args...)}
}

// argumentsFault reports violations of an input schema; the message is the first of them as a sentence.
func argumentsFault(tool string, violations []schema.Violation) *fault {
	first := violations[0]
	message := first.Message
	if first.Path != "" && message[0] != '`' && !isUnknown(message) {
		message = "`" + first.Path[1:] + "` " + message
	}
	data := []byte(`{"errors":[`)
	for i, v := range violations {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(data, `{"path":`...)
		data = domain.AppendText(data, "/arguments"+v.Path)
		data = append(data, `,"message":`...)
		data = domain.AppendText(data, v.Message)
		data = append(data, '}')
	}
	f := paramsFault("%s: %s", tool, message)
	f.data = append(data, "]}"...)
	return f
}

func isUnknown(message string) bool { return len(message) > 8 && message[:8] == "unknown " }

func methodFault(method string, withTasks bool) *fault {
	known := "server/discover, tools/list and tools/call"
	if withTasks {
		known = "server/discover, tools/list, tools/call, tasks/get, tasks/update and tasks/cancel"
	}
	data := append(domain.AppendText([]byte(`{"method":`), domain.Quote(method, 200)), '}')
	return &fault{
		status: http.StatusNotFound, code: codeMethodNotFound, data: data,
		message: fmt.Sprintf("there is no method `%s`; the methods are %s", domain.Quote(method, 200), known),
	}
}

func internalFault(reference string) *fault {
	return &fault{
		status: http.StatusInternalServerError, code: codeInternal,
		message: "the server failed at this request; its log holds the cause under the reference",
		data:    append(domain.AppendText([]byte(`{"reference":`), reference), '}'),
	}
}

func headerFault(header, reason, format string, args ...any) *fault {
	return &fault{
		status: http.StatusBadRequest, code: codeHeader, message: fmt.Sprintf(format, args...),
		data: fmt.Appendf(nil, `{"header":%q,"reason":%q}`, header, reason),
	}
}

func versionFault(requested, message string) *fault {
	data := domain.AppendText([]byte(`{"requested":`), domain.Quote(requested, 200))
	data = append(data, `,"supported":["`+Revision+`"]}`...)
	return &fault{status: http.StatusBadRequest, code: codeVersion, message: message, data: data}
}

// tasksExtension is the name of the tasks extension.
const tasksExtension = "io.modelcontextprotocol/tasks"

func capabilityFault(format string, args ...any) *fault {
	return &fault{
		status: http.StatusBadRequest, code: codeCapability, message: fmt.Sprintf(format, args...),
		data: []byte(`{"requiredCapabilities":["extensions.` + tasksExtension + `"],"clientCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`),
	}
}
