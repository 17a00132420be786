package gormstore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"aion/adapters/gormstore"
	"aion/domain"
	"aion/test/conformance"
	"aion/test/fake"
)

// privateDir is a directory that the store accepts.
func privateDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func options(t testing.TB) gormstore.Options {
	t.Helper()
	return gormstore.Options{Path: filepath.Join(privateDir(t), "aion.db"), Clock: fake.NewClock(time.Time{})}
}

func mustOpen(t testing.TB, o gormstore.Options) *gormstore.Store {
	t.Helper()
	s, err := gormstore.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func open(t testing.TB) *gormstore.Store {
	t.Helper()
	return mustOpen(t, options(t))
}

func TestStoreKeepsEveryPortsPromise(t *testing.T) { // engine 17
	t.Parallel()
	conformance.All(t, func(tb testing.TB) conformance.Store { return open(tb) })
}

// What the caller broke off is the caller's reason, however many hands it goes through, and no fault of the store.
func TestAnOpenThatIsBrokenOffGivesTheReason(t *testing.T) {
	t.Parallel()
	reason := errors.New("not wanted any more")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	_, err := gormstore.Open(ctx, options(t))
	var refused *domain.Error
	if !errors.Is(err, reason) || errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}
