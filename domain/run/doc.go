// Package run holds the projection of one run from its history: status, open activities, timers and children, how it
// ended, and the rows that make the outside world act. It needs no plan, so a run whose plan is not loaded can still be
// shown and cancelled. The rules of a run's life that depend on nothing else stand here too.
package run
