package ports

import (
	"context"
	"encoding/json"
	"time"

	"aion/domain/action"
	"aion/domain/transcript"
)

// Executor runs the declared body of one attempt on this host.
type Executor interface {
	// Execute returns when nothing of the attempt runs any more. The context's cause says why it was stopped
	// (StopCause); a deadline is the executor's own (Execution.Bound). Lines go to out while the command runs. It never
	// returns nil.
	Execute(ctx context.Context, e Execution, out TranscriptWriter) action.Verdict
}

// Execution is one attempt with what the executor needs to know about its action.
type Execution struct {
	Dispatch     action.Dispatch
	Body         action.Body
	Params       []action.Param // declared order
	ResultIsNil  bool           // the action's declared result is Nil
	OutputSchema json.RawMessage
	Bound        time.Duration // 0: none
	MaxResult    int           // bytes of the encoded result
	// Left tells how long from now the attempt may run if nobody is asked again; nil: as long as it likes. What runs longer, because
	// whoever would ask is stopped or dead, is ended without that, and the verdict is Dropped.
	Left func() time.Duration
}

// StopCause says why an attempt is stopped; it travels as the cause of the attempt's context.
type StopCause string //nolint:errname // a cause of a context, not a refusal

// The causes.
const (
	StopRunClosed StopCause = "run_closed" //nolint:errname // see StopCause
	StopCancelled StopCause = "cancelled"  //nolint:errname // see StopCause
	StopDeadline  StopCause = "deadline"   //nolint:errname // see StopCause
	StopDrain     StopCause = "drain"      //nolint:errname // see StopCause
	StopClaimLost StopCause = "claim_lost" //nolint:errname // see StopCause
)

func (c StopCause) Error() string { return "attempt stopped: " + string(c) }

// TranscriptWriter takes the records of one attempt in order. Write may wait (backpressure) and never fails: what is
// lost is counted. StoreSeq and WorkerSeq are assigned behind it.
type TranscriptWriter interface {
	Write(r transcript.Record)
}
