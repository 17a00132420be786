package gormstore_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"aion/adapters/gormstore"
	"aion/domain"
	"aion/domain/history"
	"aion/domain/transcript"
	"aion/ports"
	"aion/test/fake"
)

// over appends a workflow that has closed, with transcripts of some size.
func over(t *testing.T, s *gormstore.Store, c *chain, records int) {
	t.Helper()
	commit := c.next()
	commit.Acts = nil
	commit.Rows[0].Status, commit.Rows[0].EndedAt = history.Completed, fake.Epoch
	if err := s.Append(t.Context(), []history.Commit{commit})[0]; err != nil {
		t.Fatal(err)
	}
	lines := make([]transcript.Record, records)
	for i := range lines {
		lines[i] = transcript.Record{WorkerSeq: int64(i + 1), EmittedAt: fake.Epoch, Kind: transcript.Message, Role: "assistant", Text: string(make([]byte, 2000))}
	}
	if _, err := s.AppendRecords(t.Context(), domain.AttemptKey{WorkflowID: c.id, RunID: c.run, Attempt: 1}, lines); err != nil {
		t.Fatal(err)
	}
}

func closedOnes(t *testing.T, s *gormstore.Store) []ports.ClosedWorkflow {
	t.Helper()
	closed, err := s.Closed(t.Context(), "default", fake.Epoch.Add(time.Hour), nil, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return closed
}

// engine 7: what retention removes makes the file smaller.
func TestRetentionGivesSpaceBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(privateDir(t), "aion.db")
	s, err := gormstore.Open(t.Context(), at(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chains(40) {
		over(t, s, c, 300)
	}
	size := func() int64 {
		if err := s.Write(t.Context(), `UPDATE schema_migrations SET name = name`); err != nil {
			t.Fatal(err)
		}
		pages, err := s.WriterSetting(t.Context(), "page_count")
		if err != nil {
			t.Fatal(err)
		}
		return pages.(int64) * 4096
	}
	before := size()
	if n, err := s.RemoveClosed(t.Context(), closedOnes(t, s)); n != 40 || err != nil {
		t.Fatal(n, err)
	}
	if after := size(); before < 20<<20 || after > 6<<20 {
		t.Errorf("%d bytes before, %d after", before, after)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 6<<20 {
		t.Errorf("%v, %v", info, err)
	}
}

// engine 7: a server that dies while it removes a large workflow has removed it for every reader; the rest goes with the
// next removal.
func TestARemovalThatBrokeOffIsFinished(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) *gormstore.Store{"sqlite": open, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			c := chains(1)[0]
			over(t, s, c, 1500)
			if n, err := s.HideClosed(t.Context(), closedOnes(t, s)); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			rows, err := s.Runs(t.Context(), c.id)
			if len(rows) > 0 || err != nil || len(closedOnes(t, s)) > 0 {
				t.Errorf("a hidden workflow is found: %v, %v", rows, err)
			}
			if n, err := s.RemoveClosed(t.Context(), nil); n != 0 || err != nil {
				t.Fatal(n, err)
			}
			head, err := s.Head(t.Context(), c.id)
			if head != 0 || err != nil {
				t.Errorf("head %d, %v", head, err)
			}
			again := chains(1)[0]
			if err := s.Append(t.Context(), []history.Commit{again.next()})[0]; err != nil {
				t.Error(err)
			}
			stored, _, err := s.Tail(t.Context(), domain.AttemptKey{WorkflowID: c.id, RunID: c.run, Attempt: 1})
			if stored != 0 || err != nil {
				t.Errorf("%d records, %v", stored, err)
			}
		})
	}
}
