package machine

import (
	"time"

	"aion/domain"
	"aion/domain/history"
)

// State is the folded state of one run. It is owned by its caller and changed in place by Advance; after an error it must be
// thrown away and folded again from history.
type State struct {
	workflowID domain.WorkflowID
	runID      domain.RunID
	status     history.Status // empty before the start

	root  *flow
	input *env
	ready []*strand // in the order in which they became ready

	activities table[activity]
	timers     table[strand]
	children   table[strand]       // the awaited ones
	mail       []*mailbox          // of the signals that were waited for or received
	seen       map[string]struct{} // ids of signals
	unread     int                 // buffered payloads

	nextActivity, nextTimer, nextChild int64
	nextStrand, nextBinding            int64

	deadline      time.Time // of the workflow timer; zero: none
	deadlineTimer int64
	expired       bool // the workflow timer fired while the run was paused

	owed   int // timers that lost against a signal and are cancelled when their strand runs
	events int // of this run
	limit  int // of events, after which the generation ends at a quiet point; 0: none
	origin origin

	end *ending
}

// origin is what a later generation takes over from the start of this one.
type origin struct {
	version   string
	labels    map[string]string
	startedBy string
	parent    *history.Parent
}

// Options are what an engine decides about a state. The zero Options are those of New.
type Options struct {
	// HistoryLimit is the number of events after which a run goes on as a new generation (engine 4); 0: never.
	HistoryLimit int
}

// ending is how a run ended, and where it can go on after a reopening.
type ending struct {
	seq     history.Seq // of the terminal event
	outcome string
	result  domain.Payload
	failure *history.Failure

	strand *strand     // it failed at its current statement
	flow   *flow       // it had nothing left to do
	routed *activation // it took a route to a failure outcome
}

// activity is an open activity.
type activity struct {
	strand  *strand
	typ     string
	queue   string
	attempt int // the running or the coming one
	started bool
}

// mailbox holds what waits at one signal: strands or payloads, never both while the run is not paused.
type mailbox struct {
	name     string
	waiting  []*strand // in activation order; some may be dead
	payloads []domain.Payload
}

// New gives the state of a run that has not started.
func New() *State { return NewWith(Options{}) }

// NewWith is New with options.
func NewWith(o Options) *State { return &State{limit: o.HistoryLimit} }
