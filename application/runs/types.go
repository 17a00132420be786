package runs

import (
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/worker"
	"aion/ports"
)

// StartRequest asks for a new workflow. A nil Input counts as `{}`; the JSON text null is refused.
type StartRequest struct {
	Namespace      string
	WorkflowType   string
	Input          domain.Payload
	WorkflowID     string // a UUID of the caller's, or empty: minted
	PackageID      string // the content hash of a loaded version; empty: the one that the type is routed to
	IdempotencyKey string
	Labels         map[string]string
	Signal         *StartSignal // recorded in the commit of the start, before any step acts; nil: none
	ScheduleID     string       // the schedule that starts the run; empty: the caller does
	Task           string       // the MCP task that waits for the run and learns it in the same commit; needs a key; empty: none
}

// StartSignal is a signal that comes with a start.
type StartSignal struct {
	Name    string
	Payload domain.Payload
}

// Started is the answer to a start, from the commit's own data. Existing says that the key had started it before; Run is
// then the latest run of that workflow, and First is its first run as it was told then.
type Started struct {
	Run      Summary
	First    Summary
	Existing bool
}

// Summary is where one run stands: the members that every surface shows.
type Summary struct {
	Namespace     domain.Namespace
	WorkflowID    domain.WorkflowID
	RunID         domain.RunID
	WorkflowType  string
	PackageID     string
	Status        history.Status
	StartedAt     time.Time
	EndedAt       time.Time      // zero while open
	Outcome       string         // empty: none
	Route         string         // success or failure for an ended run that took an outcome; else empty
	Result        domain.Payload // nil: none
	Failure       *history.Failure
	PreviousRunID domain.RunID // empty: none
	Parent        *history.Parent
	Labels        map[string]string
	ScheduleID    string // of the schedule that started it; empty: none did
}

// Ref names a workflow, and one of its runs unless RunID is empty (the latest).
type Ref struct {
	Namespace  string
	WorkflowID string
	RunID      string
}

// SignalRequest delivers a payload. A nil Payload is an absent one: it is refused unless the type admits nothing.
type SignalRequest struct {
	Ref
	Name     string
	Payload  domain.Payload
	SignalID string // dedupes for the life of the workflow; empty: minted

	IdempotencyKey string
}

// Signalled is the acknowledgement of a recorded signal.
type Signalled struct {
	WorkflowID domain.WorkflowID
	RunID      domain.RunID
	SignalID   string
	HistorySeq history.Seq
	Repeated   bool // an earlier request with the same key has sent it
}

// QueryRequest asks a live run a question.
type QueryRequest struct {
	Ref
	Name string
}

// Answer is the result of a query.
type Answer struct {
	WorkflowID domain.WorkflowID
	RunID      domain.RunID
	Result     domain.Payload
	AtSeq      history.Seq // the newest event that the result rests on
}

// CancelRequest ends a run for good.
type CancelRequest struct {
	Ref
	Reason         string
	IdempotencyKey string
}

// Cancelled acknowledges a recorded cancellation.
type Cancelled struct {
	WorkflowID domain.WorkflowID
	RunID      domain.RunID
	HistorySeq history.Seq
	Repeated   bool // an earlier request with the same key has done it
}

// Description is everything that describe shows of one run.
type Description struct {
	Summary
	IsLatestRun        bool
	Live               bool // it has not ended and its plan is loaded
	PausedReason       string
	CurrentStep        *OpenStep
	OpenSteps          []OpenStep // by activity id, at most 50
	WaitingOn          []Wait     // at most 50
	Unserved           []OpenStep // at most 50
	Transcripts        []TranscriptHandle
	TranscriptsOmitted int
	HeadSeq            history.Seq
}

// OpenStep is an open activity; State is scheduled or started, Attempt the running or the coming one.
type OpenStep struct {
	ActivityID   int64
	ActivityType string
	Attempt      int
	Step         string
	TaskQueue    string
	State        string
	Since        time.Time
	Node         string
	Unserved     worker.Reason // why nothing could take it now; of unserved ones
}

// Wait is one thing that the run waits for besides activities: Kind is signal, timer or child.
type Wait struct {
	Kind  string
	Name  string
	Since time.Time
	DueAt time.Time // zero: none
}

// TranscriptHandle is the address of one stored stream (at most 200 are listed, the newest).
type TranscriptHandle struct {
	Key          domain.AttemptKey
	ActivityType string
	HeadSeq      int64
}

// ListRequest selects runs in an order; what is set must all hold. An open run fits no bound of its end. Attention selects
// those that failed or timed out in the last 24 h. Prefix is that of a workflow id, a run id or a workflow type, of letters, digits, - and _. Cursor is the next
// one of the page before, with the same filters.
type ListRequest struct {
	Namespace     string
	WorkflowType  string
	StartedAfter  time.Time
	StartedBefore time.Time

	Statuses         []history.Status // one of them; none: any
	PackageID        string
	ParentWorkflowID string
	ScheduleID       string
	EndedAfter       time.Time
	EndedBefore      time.Time
	Labels           map[string]string
	Prefix           string
	Attention        bool
	Order            ports.RunOrder

	Limit  int // 1..500; 0: 50
	Cursor string
}

// RunPage is one page; NextCursor is empty on the last.
type RunPage struct {
	Namespace  domain.Namespace
	Runs       []history.ListedRun
	NextCursor string
}

// HistoryRequest reads events of all runs of a workflow from FromSeq (1) on. Follow alone looks at RunID.
type HistoryRequest struct {
	Namespace  string
	WorkflowID string
	RunID      string
	FromSeq    history.Seq
	Limit      int // 1..500; 0: 100
}

// HistoryPage is one page of events, oldest first.
type HistoryPage struct {
	WorkflowID domain.WorkflowID
	Events     []history.Recorded
	HeadSeq    history.Seq
}
