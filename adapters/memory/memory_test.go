package memory_test

import (
	"testing"
	"time"

	"aion/adapters/memory"
	"aion/test/conformance"
	"aion/test/fake"
)

func TestStoreKeepsEveryPortsPromise(t *testing.T) { // engine 17
	t.Parallel()
	conformance.All(t, func(testing.TB) conformance.Store { return memory.New(fake.NewClock(time.Time{})) })
}

func TestStoreIsSharedByReplicas(t *testing.T) { // engine 17
	t.Parallel()
	conformance.Shared(t, func(testing.TB) conformance.SharedStore { return memory.New(fake.NewClock(time.Time{})) })
}

func TestDocumentsKeepThePortsPromise(t *testing.T) {
	t.Parallel()
	conformance.DocumentStore(t, func(testing.TB) conformance.Files {
		d := memory.NewDocuments(fake.NewClock(time.Time{}))
		return conformance.Files{DocumentStore: d, RevisionStore: d, Put: d.PutFile}
	})
}
