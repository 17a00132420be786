package ports

import "aion/domain"

// Watch wakes readers: "something of this workflow may have changed". A wake-up may be lost or doubled, so a reader also
// polls.
type Watch interface {
	// Changed wakes everyone who watches the workflow.
	Changed(id domain.WorkflowID)
	// Subscribe returns a channel that is written (never closed) after changes; stop ends it.
	Subscribe(id domain.WorkflowID) (changes <-chan struct{}, stop func())
}

// Changes is what other servers have changed in the store, as far as is known.
type Changes struct {
	Workflows []domain.WorkflowID // those that have moved on
	All       bool                // it may be anything, of any workflow
	Timers    bool                // some were set
	Messages  bool                // some were posted
	Tasks     bool                // some wait for a slot
	Replicas  bool                // one has joined or left
}
