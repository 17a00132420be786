// Package value holds the values that a run computes with: a closed set with canonical JSON, exact integers, equality,
// order and the list combinators. Values are immutable and may be shared freely. Expressions are evaluated in
// domain/machine; this package knows no plan and no names.
package value
