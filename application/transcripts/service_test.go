package transcripts_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/application/transcripts"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/domain/run"
	"aion/domain/transcript"
	"aion/test/fake"
)

// index and attempts are what history would say.
type index struct{ *memory.Store }

func (index) RunsIn(context.Context, domain.Namespace, domain.WorkflowID) ([]history.RunRow, error) {
	return []history.RunRow{{Namespace: "default", WorkflowID: key.WorkflowID, RunID: key.RunID}}, nil
}

type attempts struct{ open *atomic.Bool }

func (a attempts) Attempt(_ context.Context, k domain.AttemptKey, _ history.RunRow) (run.Attempt, error) {
	return run.Attempt{ActivityType: "work", Dispatched: k == key, Open: a.open.Load()}, nil
}

type room struct {
	store     *memory.Store
	publisher *transcripts.Publisher
	service   *transcripts.Service
	open      *atomic.Bool
}

func newRoom(b transcripts.Bounds) *room {
	store, watch := memory.New(realtime{}), system.NewWatch()
	r := &room{store: store, open: &atomic.Bool{}}
	r.open.Store(true)
	r.publisher = transcripts.NewPublisher(store, watch, realtime{}, slog.New(slog.DiscardHandler), b)
	r.service = transcripts.New(transcripts.Deps{
		Store: store, Index: index{store}, Attempts: attempts{r.open}, Watch: watch, Clock: realtime{}, Publisher: r.publisher,
	})
	return r
}

func request(from int64, limit int) transcripts.ReadRequest {
	return transcripts.ReadRequest{Namespace: "default", WorkflowID: string(key.WorkflowID), RunID: string(key.RunID), Attempt: 1, FromSeq: from, Limit: limit}
}

// actions 62
func TestACursorPastTheEndReportsTheRealHead(t *testing.T) {
	t.Parallel()
	r := newRoom(transcripts.Bounds{})
	s := r.publisher.Open(t.Context(), key, false)
	for i := range 5 {
		s.Write(line(fmt.Sprint(i)))
	}
	s.Close()
	for from, want := range map[int64]int{0: 5, 3: 2, 5: 0, 6: 0, 1 << 40: 0, -7: 5} {
		page, err := r.service.Read(t.Context(), access.Operator(""), request(from, 100))
		if err != nil || len(page.Records) != want || page.HeadSeq != 5 {
			t.Errorf("from %d: %d records, head %d, %v", from, len(page.Records), page.HeadSeq, err)
		}
	}
}

// actions 58: two writers that both read the head and append behind it make one dense stream, and nothing twice.
func TestTwoWritersMakeOneDenseStream(t *testing.T) {
	t.Parallel()
	r := newRoom(transcripts.Bounds{})
	var all sync.WaitGroup
	for w := range 2 {
		all.Go(func() {
			for i := range 200 {
				_, last, err := r.store.Tail(t.Context(), key)
				if err != nil {
					t.Error(err)
				}
				rec := line(fmt.Sprintf("%d-%d", w, i))
				rec.WorkerSeq = last + 1
				if _, err := r.store.AppendRecords(t.Context(), key, []transcript.Record{rec}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	records, head, err := r.store.Records(t.Context(), key, 0, 1000)
	if err != nil || int64(len(records)) != head || len(records) < 200 {
		t.Fatalf("%d records, head %d, %v", len(records), head, err)
	}
	seen := map[string]bool{}
	for i, rec := range records {
		if rec.StoreSeq != int64(i) || rec.WorkerSeq != int64(i)+1 || seen[rec.Text] {
			t.Errorf("record %d: %+v", i, rec)
		}
		seen[rec.Text] = true
	}
}

// actions 61
func TestARecordThatWasAcceptedIsStoredOnce(t *testing.T) {
	t.Parallel()
	r := newRoom(transcripts.Bounds{})
	batch := func(seqs ...int64) []transcript.Record {
		var list []transcript.Record
		for _, n := range seqs {
			rec := line(fmt.Sprint(n))
			rec.WorkerSeq = n
			list = append(list, rec)
		}
		return list
	}
	for _, b := range [][]transcript.Record{batch(1, 2), batch(1, 2), batch(2, 3), batch(1), batch(3, 7)} {
		if _, err := r.store.AppendRecords(t.Context(), key, b); err != nil {
			t.Errorf("a repetition is refused: %v", err)
		}
	}
	records, _, err := r.store.Records(t.Context(), key, 0, 100)
	var got string
	for _, rec := range records {
		got += rec.Text + " "
	}
	if err != nil || got != "1 2 3 7 " {
		t.Errorf("stored %q, %v", got, err)
	}
}

// actions 64: a reader that stands still holds nobody back. It misses what is not stored, and nothing else.
func TestALiveReaderThatStandsStillHoldsNobodyBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, goOn := newRoom(transcripts.Bounds{}), make(chan struct{})
		stored, shown := 0, 0
		var reader sync.WaitGroup
		reader.Go(func() {
			err := r.service.Follow(t.Context(), access.Operator(""), request(0, 0), func(rec transcript.Record) error {
				<-goOn
				if rec.Ephemeral {
					shown++
				} else {
					stored++
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		s := r.publisher.Open(t.Context(), key, false)
		for range 3000 {
			passing := line("passing")
			passing.Ephemeral = true
			s.Write(passing)
			s.Write(line("kept"))
		}
		s.Close()
		r.open.Store(false)
		close(goOn)
		reader.Wait()
		if stored != 3000 || shown == 0 || shown == 3000 {
			t.Errorf("%d stored and %d passing records", stored, shown)
		}
	})
}

// actions 64
func TestALiveReaderThatLagsSeesEachStoredRecordOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(transcripts.Bounds{})
		const lines = 20_000
		next, slow := int64(0), true
		var reader sync.WaitGroup
		reader.Go(func() {
			err := r.service.Follow(t.Context(), access.Operator(""), request(0, 0), func(rec transcript.Record) error {
				if rec.StoreSeq != next {
					t.Errorf("record %d comes after %d", rec.StoreSeq, next-1)
				}
				next++
				if slow && next%1000 == 0 {
					time.Sleep(time.Minute)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		s := r.publisher.Open(context.Background(), key, false)
		for i := range lines {
			s.Write(line(fmt.Sprint(i)))
		}
		s.Close()
		r.open.Store(false)
		reader.Wait()
		if next != lines {
			t.Errorf("%d records were seen", next)
		}
	})
}

// What is beyond the share of an attempt is not stored and goes to whoever looks on.
func TestLinesOverTheBoundGoToLiveReadersOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(transcripts.Bounds{MaxEvents: 3})
		var seen []string
		var reader sync.WaitGroup
		reader.Go(func() {
			_ = r.service.Follow(t.Context(), access.Operator(""), request(0, 0), func(rec transcript.Record) error {
				if rec.Kind == transcript.Message {
					seen = append(seen, fmt.Sprintf("%s/%v", rec.Text, rec.Ephemeral))
				}
				return nil
			})
		})
		s := r.publisher.Open(context.Background(), key, false)
		for i := range 6 {
			s.Write(line(fmt.Sprint(i)))
			time.Sleep(time.Second)
		}
		s.Close()
		r.open.Store(false)
		reader.Wait()
		if got := fmt.Sprint(seen); got != "[0/false 1/false 2/false 3/true 4/true 5/true]" {
			t.Error(got)
		}
		if _, head, err := r.store.Records(context.Background(), key, 0, 10); err != nil || head != 5 { // with full and gap
			t.Errorf("head %d, %v", head, err)
		}
		if got, want := r.publisher.Counts(), (transcripts.Counts{Stored: 5, Dropped: 3}); got != want {
			t.Errorf("counted %+v, wanted %+v", got, want)
		}
	})
}

// actions 64: what an attempt shows right before its end is seen by a reader that comes to it only after the end.
func TestTheLastThatIsShownIsSeenAfterTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, goOn := newRoom(transcripts.Bounds{}), make(chan struct{})
		s := r.publisher.Open(t.Context(), key, false)
		s.Write(line("kept"))
		var seen []string
		var reader sync.WaitGroup
		reader.Go(func() {
			err := r.service.Follow(t.Context(), access.Operator(""), request(0, 0), func(rec transcript.Record) error {
				seen = append(seen, rec.Text)
				<-goOn
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		for _, text := range []string{"passing", "last"} {
			passing := line(text)
			passing.Ephemeral = true
			s.Write(passing)
		}
		s.Close()
		r.open.Store(false)
		close(goOn)
		reader.Wait()
		if got := fmt.Sprint(seen); got != "[kept passing last]" {
			t.Error(got)
		}
	})
}

func TestAReaderThatGoesAwayEndsTheFollowing(t *testing.T) {
	t.Parallel()
	r := newRoom(transcripts.Bounds{Hold: -1})
	s := r.publisher.Open(t.Context(), key, false)
	defer s.Close()
	s.Write(line("one"))
	gone := errors.New("gone")
	err := r.service.Follow(t.Context(), access.Operator(""), request(0, 0), func(transcript.Record) error { return gone })
	if !errors.Is(err, gone) {
		t.Error(err)
	}
}

// stall lets the first append of a store stand still.
func stall(b *bench, d time.Duration) <-chan struct{} {
	hold := make(chan struct{})
	b.store.Script(fake.Fault{Op: "AppendRecords", Call: 1, Hold: hold})
	time.AfterFunc(d, func() { close(hold) })
	return hold
}

// actions 59: a store that stands still for 30 s blocks a writer for at most the stall; what was dropped is counted.
func TestAStoreThatStandsStillForHalfAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(transcripts.Bounds{QueueEvents: 100, BatchEvents: 10})
		hold := stall(b, 30*time.Second)
		s := b.publisher.Open(context.Background(), key, false)
		var longest time.Duration
		const lines = 4000 // 100 a second
		for i := range lines {
			began := time.Now()
			s.Write(line(fmt.Sprintf("%04d", i)))
			longest = max(longest, time.Since(began))
			time.Sleep(10 * time.Millisecond)
		}
		s.Close()
		<-hold
		records := b.stored(t)
		missing, texts := 0.0, 0
		for _, m := range statuses(t, records) {
			if m["status"] == "gap" {
				missing += m["lines"].(float64)
			}
		}
		for _, rec := range records {
			if rec.Kind == transcript.Message {
				texts++
			}
		}
		if texts+int(missing) != lines || missing == 0 {
			t.Errorf("%d lines are stored and %v counted as missing, of %d", texts, missing, lines)
		}
		if longest > 5*time.Second {
			t.Errorf("a line waited for %s", longest)
		}
	})
}

// server 8: a foreign workflow is answered like a missing one, and its generations are not read for it.
func TestForeignWorkflowIsMissing(t *testing.T) {
	t.Parallel()
	memoryStore, watch := memory.New(realtime{}), system.NewWatch()
	store := fake.NewStore(memoryStore)
	store.Script(fake.Fault{Op: "Runs", Call: 1, When: fake.Before})
	at, next := fake.Epoch, history.StepEntered{Step: "s", Visit: 1}
	commit := history.Commit{
		Namespace: "acme", WorkflowID: key.WorkflowID, Events: []history.Recorded{history.Record(1, at, key.WorkflowID, key.RunID, next)},
		Rows: []history.RunRow{{Namespace: "acme", WorkflowID: key.WorkflowID, RunID: key.RunID, Generation: 1, WorkflowType: "w", Status: history.Running, StartedAt: at, FirstSeq: 1}},
	}
	if errs := store.Append(t.Context(), []history.Commit{commit}); errs[0] != nil {
		t.Fatal(errs)
	}
	service := transcripts.New(transcripts.Deps{Store: store, Index: store, Attempts: attempts{&atomic.Bool{}}, Watch: watch, Clock: realtime{}})
	_, foreign := service.Read(t.Context(), access.Operator(""), request(0, 1))
	gone := request(0, 1)
	gone.WorkflowID = fake.UUID(77)
	_, missing := service.Read(t.Context(), access.Operator(""), gone)
	for what, err := range map[string]error{"foreign": foreign, "missing": missing} {
		var refusal *domain.Error
		if !errors.As(err, &refusal) || refusal.Type != "WorkflowNotFound" {
			t.Errorf("%s: %v", what, err)
		}
	}
	own := request(0, 1)
	own.Namespace = "acme"
	if _, err := service.Read(t.Context(), access.Operator(""), own); err != nil {
		t.Error(err)
	}
}
