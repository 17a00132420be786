// Package conformance says what each port promises, as one suite per port that every adapter of it runs. A fault found in
// an adapter becomes a case here.
package conformance
