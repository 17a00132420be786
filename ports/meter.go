package ports

import "time"

// Meter counts what operators watch. It is safe for concurrent use and never waits.
type Meter interface {
	// MCPRequest counts a request by its method and by ok or the code of its protocol error. Both are of closed sets.
	MCPRequest(method, code string)
	// MCPToolCall counts a call that reached a tool by ok or the code of its refusal, and how long it took.
	MCPToolCall(tool, code string, took time.Duration)
	// AuthFailure counts a credential that was refused by the type of the refusal.
	AuthFailure(reason string)
	// KeysFetched counts a fetch of the token issuer's keys.
	KeysFetched(ok bool)
}

// HTTPMeter counts requests. It is safe for concurrent use and never waits.
type HTTPMeter interface {
	// HTTPBegan counts a request that is served now, until HTTPEnded.
	HTTPBegan()
	// HTTPEnded counts an answered request by the pattern of its route, its method and its status; took is negative for a
	// stream, whose time says nothing.
	HTTPEnded(route, method string, status int, took time.Duration)
}

// AttemptMeter counts what became of attempts. It is safe for concurrent use and never waits.
type AttemptMeter interface {
	// AttemptEnded counts an attempt by the class of its verdict (EndClass), and how long it ran; 0: that is not known.
	AttemptEnded(class EndClass, took time.Duration)
}

// EndClass is how an attempt ended: a class of failure (action.Class as text) or one of these.
type EndClass string

// The ends that are no failure. A dropped one came too late: its run or its activity was over.
const (
	EndCompleted EndClass = "completed"
	EndParked    EndClass = "parked"
	EndDropped   EndClass = "dropped"
)

// WorkMeter counts what runs are asked, and how late they hear of time. It is safe for concurrent use and never waits.
type WorkMeter interface {
	// Signalled counts a signal by ok or the code of its refusal.
	Signalled(result string)
	// Queried counts a query by ok or the code of its refusal.
	Queried(result string)
	// TimerFired tells how long after its time a timer fired.
	TimerFired(lag time.Duration)
}
