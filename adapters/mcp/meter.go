package mcp

import (
	"slices"
	"strconv"
	"time"
)

// unmetered is the meter of an endpoint that has none.
type unmetered struct{}

func (unmetered) MCPRequest(string, string)                 {}
func (unmetered) MCPToolCall(string, string, time.Duration) {}
func (unmetered) AuthFailure(string)                        {}
func (unmetered) KeysFetched(bool)                          {}

// methods are those that the protocol knows here: the values of a label must be few.
func methods() []string {
	return []string{"server/discover", "tools/list", "tools/call", "tasks/get", "tasks/update", "tasks/cancel", "initialize", "ping"}
}

// metered counts the request when it is answered.
func (x *exchange) metered() {
	method := x.env.method
	switch {
	case x.env.notification:
		method = "notification"
	case method == "":
		method = "none"
	case !slices.Contains(methods(), method):
		method = "other"
	}
	code := outcomeOK
	if x.answered != 0 {
		code = strconv.Itoa(x.answered)
	}
	x.Meter.MCPRequest(method, code)
}
