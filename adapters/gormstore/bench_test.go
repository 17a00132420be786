package gormstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"aion/adapters/gormstore"
	"aion/domain"
	"aion/domain/history"
	"aion/domain/transcript"
	"aion/test/fake"
)

// chain builds the commits of one workflow whose activities follow each other: the common commit of a busy server.
type chain struct {
	id   domain.WorkflowID
	run  domain.RunID
	head history.Seq
	n    int64
}

func (c *chain) next() history.Commit {
	commit := history.Commit{Namespace: "default", WorkflowID: c.id, ExpectedSeq: c.head}
	add := func(e history.Event) {
		c.head++
		commit.Events = append(commit.Events, history.Record(c.head, fake.Epoch, c.id, c.run, e))
	}
	if c.head == 0 {
		add(history.WorkflowStarted{WorkflowType: "ship", Input: domain.Payload(`{}`), StartedBy: "operator"})
		commit.Rows = []history.RunRow{{
			Namespace: "default", WorkflowID: c.id, RunID: c.run, Generation: 1, WorkflowType: "ship",
			Status: history.Running, StartedAt: fake.Epoch, FirstSeq: 1,
		}}
	} else {
		add(history.ActivityCompleted{ActivityID: c.n, Attempt: 1, Result: domain.Payload(`"built"`)})
		commit.Acts = append(commit.Acts, history.TaskEnded{WorkflowID: c.id, RunID: c.run, ActivityID: c.n})
		c.n++
		add(history.StepEntered{Step: "build", Visit: c.n})
	}
	add(history.ActivityScheduled{ActivityID: c.n, ActivityType: "make", TaskQueue: "shell", Input: domain.Payload(`{"name":"Ada"}`), Step: "build"})
	add(history.ActivityStarted{ActivityID: c.n, Attempt: 1, Executor: "server"})
	commit.Acts = append(commit.Acts, history.TaskAdded{Task: history.Task{
		Namespace: "default",
		Key:       domain.AttemptKey{WorkflowID: c.id, RunID: c.run, ActivityID: c.n, Attempt: 1},
		TaskQueue: "shell", Name: "make", PackageVersion: fmt.Sprintf("%064x", 1), Input: domain.Payload(`{"name":"Ada"}`),
		State: history.TaskStarted, Owner: "server-1", ScheduledAt: fake.Epoch, NotBefore: fake.Epoch,
	}})
	return commit
}

func chains(n int) []*chain {
	cs := make([]*chain, n)
	for i := range cs {
		cs[i] = &chain{id: domain.WorkflowID(fake.UUID(uint64(2 * i))), run: domain.RunID(fake.UUID(uint64(2*i + 1)))}
	}
	return cs
}

// BenchmarkAppend reports activities (commits of four events, one task ended and one added) per second for groups of
// several sizes; a group of one is the machine's price of an acknowledged commit.
func BenchmarkAppend(b *testing.B) { benchmarkAppend(b, open) }

func BenchmarkAppendPostgres(b *testing.B) { benchmarkAppend(b, openPostgres) }

func benchmarkAppend(b *testing.B, open func(testing.TB) *gormstore.Store) {
	for _, size := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprintf("group=%d", size), func(b *testing.B) {
			s := open(b)
			cs := chains(max(size, 32))
			n := 0
			for b.Loop() {
				group := make([]history.Commit, size)
				for i := range group {
					group[i] = cs[n%len(cs)].next()
					n++
				}
				for _, err := range s.Append(b.Context(), group) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "commits/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkTranscript reports lines per second for batches of 256.
func BenchmarkTranscript(b *testing.B) { benchmarkTranscript(b, open(b)) }

func BenchmarkTranscriptPostgres(b *testing.B) { benchmarkTranscript(b, openPostgres(b)) }

func benchmarkTranscript(b *testing.B, s *gormstore.Store) {
	key := domain.AttemptKey{WorkflowID: domain.WorkflowID(fake.UUID(1)), RunID: domain.RunID(fake.UUID(2)), Attempt: 1}
	n := int64(0)
	for b.Loop() {
		batch := make([]transcript.Record, 256)
		for i := range batch {
			n++
			batch[i] = transcript.Record{
				WorkerSeq: n, EmittedAt: fake.Epoch, AgentID: transcript.NilAgent, AgentRole: "command stdout",
				Kind: transcript.Message, Role: "tool", Text: "compiling package number so and so",
			}
		}
		if _, err := s.AppendRecords(b.Context(), key, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "lines/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkHistory reports events per second read in pages of 500.
func BenchmarkHistory(b *testing.B) {
	s := open(b)
	c := chains(1)[0]
	var group []history.Commit
	for range 500 {
		group = append(group, c.next())
	}
	for _, err := range s.Append(b.Context(), group) {
		if err != nil {
			b.Fatal(err)
		}
	}
	n := 0
	for b.Loop() {
		events, err := s.History(b.Context(), c.id, int64(n%1000)+1, 500)
		if err != nil || len(events) != 500 {
			b.Fatal(len(events), err)
		}
		n += len(events)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkAppendTogether reports activities per second when 32 callers append one commit each, without a committer before
// the store.
func BenchmarkAppendTogether(b *testing.B) {
	s := open(b)
	cs := chains(1 << 12)
	var n atomic.Int64
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		c := cs[n.Add(1)]
		for pb.Next() {
			if err := s.Append(b.Context(), oneCommit(c))[0]; err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric(0, "ns/op")
}
