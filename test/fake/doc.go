// Package fake holds what tests put in place of the world: a clock that stands until it is moved, identifiers that come
// in order, and a store that fails by script.
package fake
