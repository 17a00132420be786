package gormstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"aion/adapters/gormstore"
	"aion/domain"
	"aion/domain/task"
	"aion/domain/transcript"
	"aion/ports"
	"aion/test/conformance"
	"aion/test/fake"
)

func TestServersChangeOneTaskOneAtATime(t *testing.T) { // mcp 34
	t.Parallel()
	stores := several(t, "one", "two")
	waiting := task.New(task.NewID([16]byte{1}), "operator", fake.Epoch, time.Second)
	waiting.Arguments = []byte(`{}`)
	if err := stores[0].CreateMCPTask(t.Context(), waiting, 10); err != nil {
		t.Fatal(err)
	}
	var begun, settled atomic.Int64
	noErrors(t, crowd(stores, 8, func(s *gormstore.Store, i int) error {
		if i%3 == 0 { // a start for the task, against its end
			err := s.Append(t.Context(), oneOf(start(i, fmt.Sprint("k", i), string(waiting.ID))))[0]
			if err == nil {
				begun.Add(1)
			} else if domain.TypeOf(err) != "TaskEnded" {
				return err
			}
			return nil
		}
		_, err := s.ChangeMCPTask(t.Context(), waiting.ID, func(k task.Task) (task.Task, error) {
			if k.State != task.Working || k.WorkflowID == "" && i != 1 {
				return k, task.Ended(k.ID)
			}
			return k.Cancel(task.End{At: fake.Epoch, TTL: time.Hour}), nil
		})
		if err == nil {
			settled.Add(1)
			err = nil
		} else if domain.TypeOf(err) == "TaskEnded" {
			err = nil
		}
		return err
	}))
	k, err := stores[1].MCPTask(t.Context(), waiting.ID)
	if err != nil || settled.Load() > 1 || (settled.Load() == 1) != (k.State == task.Cancelled) || (begun.Load() > 0) != (k.WorkflowID != "") {
		t.Errorf("%d begun, %d settled, %+v, %v", begun.Load(), settled.Load(), k, err)
	}
}

func TestServersBoundTheTasksOfOneOwnerTogether(t *testing.T) {
	t.Parallel()
	stores := several(t, "one", "two")
	var made atomic.Int64
	noErrors(t, crowd(stores, 10, func(s *gormstore.Store, i int) error {
		k := task.New(task.NewID([16]byte{byte(i), 1}), "operator", fake.Epoch, time.Second)
		k.Arguments = []byte(`{}`)
		err := s.CreateMCPTask(t.Context(), k, 7)
		if err == nil {
			made.Add(1)
		} else if domain.CodeOf(err) == domain.CodeResourceExhausted {
			err = nil
		}
		return err
	}))
	if made.Load() != 7 {
		t.Errorf("%d tasks were made, of 7 that may be", made.Load())
	}
}

func TestServersFillOneStreamWithoutAGap(t *testing.T) { // actions 5
	t.Parallel()
	stores := several(t, "one", "two")
	key := domain.AttemptKey{WorkflowID: workflowID(1), RunID: runID(1), Attempt: 1}
	var seq atomic.Int64
	noErrors(t, crowd(stores, 8, func(s *gormstore.Store, _ int) error {
		for range 5 {
			n := seq.Add(1)
			if _, err := s.AppendRecords(t.Context(), key, []transcript.Record{{WorkerSeq: n, Kind: transcript.Stop, AgentID: transcript.NilAgent}}); err != nil {
				return err
			}
		}
		return nil
	}))
	records, head, err := stores[0].Records(t.Context(), key, 0, 1000)
	if err != nil || int64(len(records)) != head || head == 0 {
		t.Fatalf("%d records, head %d, %v", len(records), head, err)
	}
	last := int64(0)
	for i, r := range records {
		if r.StoreSeq != int64(i) || r.WorkerSeq <= last {
			t.Errorf("record %d has store_seq %d and worker_seq %d after %d", i, r.StoreSeq, r.WorkerSeq, last)
		}
		last = r.WorkerSeq
	}
}

func TestServersRegisterAndDeployTogether(t *testing.T) {
	t.Parallel()
	stores := several(t, "one", "two")
	var added, fresh, removed atomic.Int64
	count := func(n *atomic.Int64, yes bool, err error) error {
		if yes && err == nil {
			n.Add(1)
		}
		return err
	}
	noErrors(t, crowd(stores, 8, func(s *gormstore.Store, i int) error {
		_, a, err := s.AddNamespace(t.Context(), ports.NamespaceRow{Name: "acme", CreatedAt: fake.Epoch})
		if err := count(&added, a, err); err != nil {
			return err
		}
		if _, err := s.ChangeNamespace(t.Context(), ports.NamespaceRow{Name: "acme", Description: fmt.Sprint(i)}); err != nil {
			return err
		}
		_, f, err := s.PutVersion(t.Context(), versionOf(1))
		if err := count(&fresh, f, err); err != nil {
			return err
		}
		return conformance.Reroute(t.Context(), s, "ship", versionOf(1).ContentHash, fake.Epoch)
	}))
	noErrors(t, crowd(stores, 4, func(s *gormstore.Store, _ int) error {
		err := s.RemoveNamespace(t.Context(), "acme", nil)
		if domain.CodeOf(err) == domain.CodeNotFound {
			return nil
		}
		return count(&removed, true, err)
	}))
	if added.Load() != 1 || fresh.Load() != 1 || removed.Load() != 1 {
		t.Errorf("%d added, %d fresh, %d removed", added.Load(), fresh.Load(), removed.Load())
	}
	// What is routed is not removed, and what is removed is not routed.
	second := versionOf(2)
	for range 5 {
		if _, _, err := stores[0].PutVersion(t.Context(), second); err != nil {
			t.Fatal(err)
		}
		noErrors(t, []error{conformance.Reroute(t.Context(), stores[0], "ship", versionOf(1).ContentHash, fake.Epoch)})
		noErrors(t, crowd(stores, 2, func(s *gormstore.Store, i int) error {
			var err error
			if i%2 == 0 {
				err = conformance.Reroute(t.Context(), s, "ship", second.ContentHash, fake.Epoch)
			} else {
				err = s.DeleteVersion(t.Context(), "ship", second.ContentHash, nil)
			}
			if code := domain.CodeOf(err); code == domain.CodeNotFound || code == domain.CodeVersionPinned {
				err = nil
			}
			return err
		}))
		if _, err := stores[1].Routed(t.Context(), "ship"); err != nil {
			t.Errorf("the route leads nowhere: %v", err)
		}
	}
}
