package authoring_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"aion/adapters/memory"
	"aion/application/authoring"
	"aion/application/deployments"
	"aion/domain"
	"aion/test/fake"
)

// server 47: a change without its record does not happen, and each that happens has one.
func TestChangeThatCannotBeRecordedDoesNotHappen(t *testing.T) {
	t.Parallel()
	clock := fake.NewClock(time.Time{})
	store, documents := memory.New(clock), memory.NewDocuments(clock)
	full := errors.New("the log is full")
	var refuse error
	var seen []string
	s := authoring.New(authoring.Deps{
		Documents: documents, Revisions: documents, Clock: clock, IDs: fake.NewIDs(),
		Deployments: deployments.New(deployments.Deps{Store: store, Routes: store, Index: store, Clock: clock}),
		Audit: func(_ context.Context, r domain.AuditRecord) error {
			if refuse == nil {
				seen = append(seen, r.Action+" "+r.Target)
			}
			return refuse
		},
	})
	save := func(text string) error {
		_, err := s.Save(t.Context(), operator, authoring.SaveRequest{Path: "a.awl", Source: []byte(text)})
		return err
	}
	remove := func() error {
		return s.Delete(t.Context(), operator, authoring.DeleteRequest{Path: "a.awl", Expect: authoring.Something})
	}
	refuse = full
	if err := save("1"); !errors.Is(err, full) {
		t.Errorf("save: %v", err)
	}
	if _, err := s.Read(t.Context(), operator, "a.awl"); domain.TypeOf(err) != "DocumentNotFound" {
		t.Errorf("it was saved: %v", err)
	}
	refuse = nil
	for range 2 { // the second one changes nothing
		if err := save("1"); err != nil {
			t.Fatal(err)
		}
	}
	refuse = full
	if err := remove(); !errors.Is(err, full) {
		t.Errorf("delete: %v", err)
	}
	if d, err := s.Read(t.Context(), operator, "a.awl"); err != nil || string(d.Source) != "1" {
		t.Errorf("it was removed: %v", err)
	}
	refuse = nil
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	if err := remove(); domain.TypeOf(err) != "DocumentNotFound" {
		t.Errorf("a second delete: %v", err)
	}
	if len(seen) != 2 || seen[0] != "document.save a.awl" || seen[1] != "document.delete a.awl" {
		t.Errorf("%q", seen)
	}
}
