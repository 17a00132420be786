package gormstore_test

import (
	"testing"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/test/fake"
)

// What was used before namespaces were registered stays reachable when they must exist.
func TestUpgradeRegistersTheNamespacesThatAreUsed(t *testing.T) {
	t.Parallel()
	s := open(t)
	id, run := domain.WorkflowID(fake.UUID(1)), domain.RunID(fake.UUID(2))
	row := history.RunRow{Namespace: "acme", WorkflowID: id, RunID: run, Generation: 1, WorkflowType: "w", Status: history.Running, StartedAt: fake.Epoch, FirstSeq: 1}
	later := row
	later.RunID, later.Generation, later.StartedAt = domain.RunID(fake.UUID(3)), 2, fake.Epoch.Add(time.Hour)
	for _, err := range s.Append(t.Context(), []history.Commit{{
		Namespace: "acme", WorkflowID: id, Rows: []history.RunRow{row, later},
		Events: []history.Recorded{history.Record(1, fake.Epoch, id, run, history.StepEntered{Step: "s", Visit: 1})},
	}}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Write(t.Context(), `DROP TABLE namespaces`); err != nil { // the store of a version that knew none
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	all, err := s.Namespaces(t.Context(), "", 10)
	if err != nil || len(all) != 1 || all[0].Name != "acme" || !all[0].CreatedAt.Equal(fake.Epoch) {
		t.Errorf("%+v, %v", all, err)
	}
}
