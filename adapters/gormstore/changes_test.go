package gormstore_test

import (
	"testing"

	"aion/domain/history"
	"aion/test/postgres"
)

// server 1.7: a transaction that was open when the store was made, of whatever program, holds changes back and loses none.
func TestReadersOfChangesWaitForOlderTransactions(t *testing.T) {
	t.Parallel()
	dsn := postgres.Database(t)
	elder := connect(t, dsn)
	if _, err := elder.Exec(t.Context(), `BEGIN; SELECT pg_current_xact_id()`); err != nil {
		t.Fatal(err)
	}
	s := mustOpenPostgres(t, postgresOptions(t, dsn))
	page, err := s.RunChanges(t.Context(), "default", nil, 10)
	if err != nil {
		t.Fatal(err)
	}
	at := page.UpTo
	if err := s.Append(t.Context(), []history.Commit{chains(1)[0].next()})[0]; err != nil {
		t.Fatal(err)
	}
	if page, err = s.RunChanges(t.Context(), "default", &at, 10); err != nil || page.Lost || len(page.Changes) != 0 {
		t.Errorf("while it is open: %+v, %v", page, err)
	}
	if _, err := elder.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	for len(page.Changes) == 0 && !page.Lost { // others of this server hold it back, too; the time of the test bounds it
		if page, err = s.RunChanges(t.Context(), "default", &at, 10); err != nil {
			t.Fatal(err)
		}
	}
	if page.Lost || len(page.Changes) != 1 {
		t.Errorf("afterwards: %+v", page)
	}
}
