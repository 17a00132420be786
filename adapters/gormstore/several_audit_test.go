package gormstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"aion/adapters/gormstore"
	"aion/domain"
)

func TestServersKeepTheirChainsWhole(t *testing.T) { // server 5.9
	t.Parallel()
	stores := several(t, "one", "two")
	noErrors(t, crowd(stores, 1, func(s *gormstore.Store, i int) error {
		return s.BeginAudit(t.Context(), fmt.Sprint("chain", i), domain.AuditRecord{Action: "server.start"})
	}))
	var reading sync.WaitGroup
	stop := make(chan struct{})
	reading.Go(func() { // whoever follows the log finds each chain dense at any time
		for {
			select {
			case <-stop:
				return
			default:
				verify(t, stores[0])
			}
		}
	})
	noErrors(t, crowd(stores, 8, func(s *gormstore.Store, i int) error {
		for n := range 5 {
			if i == 7 { // a third server comes and goes
				if err := s.BeginAudit(t.Context(), fmt.Sprint("chain", i, "-", n), domain.AuditRecord{Action: "server.start"}); err != nil {
					return err
				}
			}
			c := start(100*i+n, fmt.Sprint(i, n), "")
			c.Audit = []domain.AuditRecord{{Action: "run.start", Target: fmt.Sprint(i)}, {Action: "run.signal"}}
			if err := errors.Join(s.Append(t.Context(), oneOf(c))...); err != nil {
				return err
			}
			if err := s.Audit(t.Context(), domain.AuditRecord{Action: "auth.refused"}); err != nil {
				return err
			}
		}
		return nil
	}))
	close(stop)
	reading.Wait()
	if trail := verify(t, stores[1]); trail.Count() != 2+5+16*5*3 {
		t.Errorf("%d records", trail.Count())
	}
}

// Whoever cuts the end of any chain off is betrayed by the next server that begins.
func TestAServerNamesEveryChainThatHasGrown(t *testing.T) { // server 5.9
	t.Parallel()
	stores := several(t, "one", "two", "three")
	begin := func(i int, chain string) {
		t.Helper()
		noErrors(t, []error{stores[i].BeginAudit(t.Context(), chain, domain.AuditRecord{Action: "server.start"})})
	}
	begin(0, "idle")
	begin(0, "a")
	begin(1, "b")
	for _, s := range []*gormstore.Store{stores[1], stores[0], stores[1]} {
		noErrors(t, []error{s.Audit(t.Context(), domain.AuditRecord{Action: "auth.refused"})})
	}
	heads, err := stores[2].AuditHeads(t.Context())
	var got []string
	for _, h := range heads {
		got = append(got, fmt.Sprint(h.Chain, h.N))
	}
	if err != nil || !slices.Equal(got, []string{"a2", "b3"}) {
		t.Errorf("heads %v, %v", got, err)
	}
	begin(2, "c")
	all, err := stores[0].AuditRecords(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var named struct{ Heads []domain.AuditHead }
	if err := json.Unmarshal(all[len(all)-1].Detail, &named); err != nil || !slices.Equal(named.Heads, heads) {
		t.Errorf("named %v, %v", named, err)
	}
	verify(t, stores[0])
}

// verify reads the whole log page by page, as an operator does.
func verify(t *testing.T, s *gormstore.Store) *domain.AuditTrail {
	t.Helper()
	var trail domain.AuditTrail
	for after := int64(0); ; {
		page, err := s.AuditRecords(t.Context(), after, 10)
		if err != nil {
			t.Error(err)
			return &trail
		}
		for _, r := range page {
			after = r.Seq
			if err := trail.Add(r); err != nil {
				var named struct{ Heads []domain.AuditHead }
				_ = json.Unmarshal(r.Detail, &named)
				t.Errorf("%v (%+v)", err, named)
				return &trail
			}
		}
		if len(page) < 10 {
			return &trail
		}
	}
}
