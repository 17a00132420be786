package value

import "fmt"

// The failure codes of evaluation (awl 7.9). Invalid is the fault of a plan that a checked document never compiles to, such
// as a comparison of a number with a list.
const (
	OutOfRange = "index_out_of_range"
	TooLarge   = "value_too_large"
	Invalid    = "plan_invalid"
)

// Failure is why an expression has no value. It is an outcome of the run, not of the program.
type Failure struct {
	Code    string
	Message string
}

// Failed makes a failure.
func Failed(code, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}
