package conformance

import (
	"fmt"
	"testing"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// Outbox is the port of the suite OutboxStore with the port that fills it.
type Outbox interface {
	ports.EventStore
	ports.OutboxStore
}

// OutboxStore runs the suite of ports.OutboxStore.
func OutboxStore(t *testing.T, open func(testing.TB) Outbox) {
	run(t, open, map[string]func(*testing.T, Outbox){
		"messages wait in the order of posting":              messagesInOrder,
		"a message is posted once while it waits":            messagePostedOnce,
		"closing a run leaves what it has posted":            closedRunMessages,
		"what is delivered is gone, unknown ids are ignored": deliveredMessages,
	})
}

func (f *flow) message(n int) history.Message {
	return history.Message{
		ID: fmt.Sprintf("%s:start_child:%d", f.run, n), Namespace: namespace, WorkflowID: f.id, Kind: "start_child",
		Body: domain.Payload(fmt.Sprintf("{\"n\": %d, \"b\": \"\\u0000\"}", n)),
	}
}

func post(t *testing.T, s ports.EventStore, f *flow, messages ...history.Message) {
	t.Helper()
	c := f.next(step(1))
	for _, m := range messages {
		c.Acts = append(c.Acts, history.Posted{Message: m})
	}
	mustAppend(t, s, c)
}

func pending(t *testing.T, s ports.OutboxStore, limit int) []history.Message {
	t.Helper()
	messages, err := s.Pending(t.Context(), nil, limit)
	return must(t, messages, err)
}

func messagesInOrder(t *testing.T, s Outbox) {
	f, g := newFlow(9), newFlow(1)
	post(t, s, f, f.message(5), f.message(1))
	post(t, s, g, g.message(0))
	empty := f.message(7)
	empty.Body = nil
	post(t, s, f, empty)
	same(t, "all", pending(t, s, 10), []history.Message{f.message(5), f.message(1), g.message(0), empty})
	same(t, "limited", pending(t, s, 2), []history.Message{f.message(5), f.message(1)})
	same(t, "none asked", pending(t, s, 0), []history.Message(nil))
}

func messagePostedOnce(t *testing.T, s Outbox) {
	f := newFlow(1)
	post(t, s, f, f.message(1))
	post(t, s, f, f.message(1), f.message(2))
	same(t, "pending", pending(t, s, 10), []history.Message{f.message(1), f.message(2)})
}

func closedRunMessages(t *testing.T, s Outbox) { // report 28
	f := newFlow(1)
	post(t, s, f, f.message(1))
	mustAppend(t, s, f.acting(history.RunClosed{WorkflowID: f.id, RunID: f.run}))
	same(t, "pending", pending(t, s, 10), []history.Message{f.message(1)})
}

func deliveredMessages(t *testing.T, s Outbox) {
	f := newFlow(1)
	post(t, s, f, f.message(1), f.message(2), f.message(3))
	if err := s.Delivered(t.Context(), []string{f.message(2).ID, "unknown", f.message(1).ID}); err != nil {
		t.Fatal(err)
	}
	same(t, "pending", pending(t, s, 10), []history.Message{f.message(3)})
	post(t, s, f, f.message(4))
	same(t, "pending", pending(t, s, 10), []history.Message{f.message(3), f.message(4)})
}
