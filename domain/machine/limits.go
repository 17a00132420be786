package machine

import "aion/domain/awl/value"

// The bounds of one run (awl 2.1). The last three keep one fact from working or deriving for ever; a checked document meets
// them only when nested bounds multiply.
const (
	maxItems      = 10_000     // of one fork or region
	maxPasses     = 10_000     // of one loop, and visits of one step
	maxSteps      = 20_000_000 // expressions evaluated for one fact
	maxEvents     = 250_000    // events derived from one fact
	bytesPerStep  = 8          // handled bytes that count as one expression
	stepsPerFrame = 4          // what running a statement counts
	maxCarried    = 32 << 20   // bytes of the state that one generation hands to the next
)

// The failure codes of a run (awl 7.9); those of evaluation are in package value.
const (
	activityFailed  = "activity_failed"
	childFailed     = "child_failed"
	resultInvalid   = "result_invalid"
	fanOutTooLarge  = "fan_out_too_large"
	boundOutOfRange = "bound_out_of_range"
	visitsExceeded  = "visits_exceeded"
	noOutcome       = "no_outcome"
	planInvalid     = value.Invalid
)

// The reasons of cancelled parts.
const (
	siblingFailed = "sibling_failed"
	flowEnded     = "flow_ended"
)
