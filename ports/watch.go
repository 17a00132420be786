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
