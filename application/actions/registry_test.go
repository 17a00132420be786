package actions_test

import (
	"context"
	"errors"
	"testing"

	"aion/application/actions"
	"aion/ports"
)

// actions 49: runs of one chain have attempts of their own, also with the same ordinal and number.
func TestRunsOfOneChainAreTwoEntries(t *testing.T) {
	t.Parallel()
	r := actions.NewRegistry()
	next := key
	next.RunID = "01900000-0000-7000-8000-000000000003"
	first, releaseFirst, err := r.Register(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	second, releaseSecond, err := r.Register(t.Context(), next)
	if err != nil {
		t.Fatal(err)
	}
	r.StopRun(key.RunID)
	if context.Cause(first) != ports.StopRunClosed || second.Err() != nil { //nolint:errorlint // a cause is the value itself
		t.Errorf("first %v, second %v", context.Cause(first), context.Cause(second))
	}
	r.StopActivity(next.RunID, next.ActivityID)
	r.StopRun(next.RunID)
	if context.Cause(second) != ports.StopCancelled { //nolint:errorlint // a cause is the value itself
		t.Errorf("the first cause does not win: %v", context.Cause(second))
	}
	releaseFirst()
	if r.Holds(key) || !r.Holds(next) {
		t.Error("a release took the wrong entry")
	}
	releaseSecond()
	if r.Holds(next) {
		t.Error("a release left its entry")
	}
}

// actions 3, 17, 48
func TestADrainingRegistryTakesNothingAndADuplicateIsRefused(t *testing.T) {
	t.Parallel()
	r := actions.NewRegistry()
	_, release, err := r.Register(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Register(t.Context(), key); err == nil {
		t.Error("a duplicate is registered")
	}
	idle := r.Drain()
	other := key
	other.ActivityID = 9
	if _, _, err := r.Register(t.Context(), other); err == nil || errors.Is(err, context.Canceled) || r.Holds(other) {
		t.Errorf("registered while draining: %v", err)
	}
	select {
	case <-idle:
		t.Error("idle with an entry")
	default:
	}
	release()
	<-idle
}
