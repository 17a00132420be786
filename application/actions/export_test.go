package actions

import (
	"context"

	"aion/domain"
	"aion/domain/action"
)

// Registry is the registry of attempts, for tests.
type Registry struct{ r *registry }

// NewRegistry gives an empty one.
func NewRegistry() Registry { return Registry{newRegistry()} }

// Register adds an attempt.
func (r Registry) Register(ctx context.Context, key domain.AttemptKey) (context.Context, func(), error) {
	return r.r.register(ctx, key)
}

// StopRun stops the attempts of a run.
func (r Registry) StopRun(id domain.RunID) { r.r.stopRun(id) }

// StopActivity stops the attempt of an activity.
func (r Registry) StopActivity(id domain.RunID, activityID int64) { r.r.stopActivity(id, activityID) }

// Drain refuses new attempts.
func (r Registry) Drain() <-chan struct{} { return r.r.drain() }

// Holds reports whether an attempt is registered.
func (r Registry) Holds(key domain.AttemptKey) bool { return r.r.holds(key) }

// Refused gives the failure of a dispatch that is not executed at all.
func (d *Dispatcher) Refused(dispatch action.Dispatch) *action.Failed { return d.refused(dispatch) }
