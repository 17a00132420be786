package transcripts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/application/transcripts"
	"aion/domain"
	"aion/domain/transcript"
	"aion/test/fake"
)

type realtime struct{}

func (realtime) Now() time.Time                         { return time.Now() }
func (realtime) After(d time.Duration) <-chan time.Time { return time.After(d) }

var key = domain.AttemptKey{WorkflowID: "0198aaaa-0000-7000-8000-000000000001", RunID: "0198aaaa-0000-7000-8000-000000000002", Attempt: 1}

type bench struct {
	store     *fake.Store
	publisher *transcripts.Publisher
	log       *bytes.Buffer
}

func newBench(b transcripts.Bounds) *bench {
	store, log := fake.NewStore(memory.New(realtime{})), &bytes.Buffer{}
	return &bench{
		store: store, log: log,
		publisher: transcripts.NewPublisher(store, system.NewWatch(), realtime{}, slog.New(slog.NewTextHandler(log, nil)), b),
	}
}

func line(text string) transcript.Record {
	return transcript.Record{Kind: transcript.Message, Role: "tool", Text: text, AgentID: transcript.NilAgent}
}

func (b *bench) stored(t *testing.T) []transcript.Record {
	t.Helper()
	records, head, err := b.store.Records(context.Background(), key, 0, 1_000_000)
	if err != nil || int64(len(records)) != head {
		t.Fatalf("%d records, head %d, %v", len(records), head, err)
	}
	for i, r := range records {
		if r.StoreSeq != int64(i) || r.WorkerSeq != int64(i)+1 {
			t.Fatalf("record %d has store_seq %d and worker_seq %d", i, r.StoreSeq, r.WorkerSeq)
		}
	}
	return records
}

// statuses are the status events among records, as their JSON.
func statuses(t *testing.T, records []transcript.Record) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, r := range records {
		if r.Kind != transcript.Progress {
			continue
		}
		var m map[string]any
		if err := json.Unmarshal(r.Detail, &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

func TestLinesAreStoredInOrderAndFlushedAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(transcripts.Bounds{})
		s := b.publisher.Open(context.Background(), key, false)
		for i := range 1000 {
			s.Write(line(fmt.Sprint(i)))
		}
		s.Close()
		records := b.stored(t)
		if len(records) != 1000 || records[999].Text != "999" {
			t.Errorf("%d records", len(records))
		}
	})
}

func TestFirstLineShowsWithinTheHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(transcripts.Bounds{})
		s := b.publisher.Open(context.Background(), key, false)
		defer s.Close()
		s.Write(line("now"))
		time.Sleep(60 * time.Millisecond)
		if n := len(b.stored(t)); n != 1 {
			t.Errorf("%d records", n)
		}
	})
}

// actions 59
func TestStalledStoreBlocksOnceAndThenDropsWithACount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(transcripts.Bounds{QueueEvents: 10, BatchEvents: 4})
		hold := make(chan struct{})
		b.store.Script(fake.Fault{Op: "AppendRecords", Call: 1, Hold: hold})
		s := b.publisher.Open(context.Background(), key, false)
		began := time.Now()
		for i := range 30 {
			s.Write(line(fmt.Sprintf("%02d", i)))
		}
		if took := time.Since(began); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("the writer was blocked for %s", took)
		}
		close(hold)
		time.Sleep(time.Second)
		s.Write(line("after"))
		for range 40 { // four times what the queue holds: the store moves, so nothing is dropped any more
			s.Write(line("more"))
		}
		s.Close()
		records := b.stored(t)
		if len(records) != 52 || records[11].Text != "after" {
			t.Fatalf("%d records", len(records))
		}
		gaps := statuses(t, records)
		if len(gaps) != 1 || gaps[0]["status"] != "gap" || gaps[0]["lines"] != 20.0 || gaps[0]["bytes"] != 40.0 || gaps[0]["reason"] != "store_stalled" {
			t.Errorf("gaps %v", gaps)
		}
		if got, want := b.publisher.Counts(), (transcripts.Counts{Stored: 52, Dropped: 20}); got != want {
			t.Errorf("counted %+v, wanted %+v", got, want)
		}
	})
}

// actions 60
func TestSlowStoreLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(transcripts.Bounds{QueueEvents: 8, BatchEvents: 4, Hold: -1})
		var away []fake.Fault
		for n := 1; n < 200; n += 3 {
			away = append(away, fake.Fault{Op: "AppendRecords", Call: n, When: fake.Before})
		}
		b.store.Script(away...)
		s := b.publisher.Open(context.Background(), key, false)
		for i := range 200 {
			s.Write(line(fmt.Sprint(i)))
		}
		s.Close()
		if records := b.stored(t); len(records) != 200 || len(statuses(t, records)) != 0 {
			t.Errorf("%d records", len(records))
		}
		if n := strings.Count(b.log.String(), "refused"); n == 0 || n > 60 {
			t.Errorf("%d warnings", n)
		}
	})
}

func TestAttemptOverItsShareSaysSoOnceAndCountsTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(transcripts.Bounds{MaxEvents: 5})
		s := b.publisher.Open(context.Background(), key, false)
		for range 100 {
			s.Write(line("1234"))
		}
		s.Close()
		records := b.stored(t)
		got := statuses(t, records)
		if len(records) != 7 || len(got) != 2 || got[0]["status"] != "full" || got[1]["status"] != "gap" || got[1]["lines"] != 95.0 || got[1]["reason"] != "full" {
			t.Errorf("%d records, %v", len(records), got)
		}
	})
}

// actions 7.4 (6): what an attempt stored before a drain counts for its share.
func TestResumedAttemptHasOneShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(transcripts.Bounds{MaxEvents: 5})
		for _, resumed := range []bool{false, true, true} {
			s := b.publisher.Open(context.Background(), key, resumed)
			for range 3 {
				s.Write(line("1234"))
			}
			s.Close()
		}
		full := 0
		records := b.stored(t)
		for _, r := range records {
			if strings.Contains(string(r.Detail), `"full"`) && strings.Contains(string(r.Detail), `"events"`) {
				full++
			}
		}
		// 3 lines, the status of the resumption, 1 line, full, a gap; then only the gap of what came behind it.
		if full != 1 || len(records) != 8 {
			t.Errorf("%d times full in %d records %+v", full, len(records), records)
		}
	})
}

func TestStoreThatStaysAwayEndsWithAWarning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(transcripts.Bounds{})
		b.store.Script(fake.Fault{Op: "AppendRecords", Call: 1, When: fake.Inside}) // and every later call
		s := b.publisher.Open(context.Background(), key, false)
		s.Write(line("lost"))
		began := time.Now()
		s.Close()
		if took := time.Since(began); took > 11*time.Second {
			t.Errorf("the end took %s", took)
		}
		if !strings.Contains(b.log.String(), "transcript lines were lost") {
			t.Errorf("log %q", b.log)
		}
	})
}

func TestResumedStreamGoesOnBehindWhatIsStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(transcripts.Bounds{})
		for _, resumed := range []bool{false, true} {
			s := b.publisher.Open(context.Background(), key, resumed)
			s.Write(line("a"))
			s.Write(line("b"))
			s.Close()
		}
		records := b.stored(t)
		if len(records) != 5 || string(records[2].Detail) != `{"status":"resumed_after_drain"}` || records[4].Text != "b" {
			t.Errorf("%+v", records)
		}
	})
}

func TestSilentAttemptCostsNoStoreCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(transcripts.Bounds{})
		b.store.Script(fake.Fault{Call: 1, When: fake.Before})
		b.publisher.Open(context.Background(), key, false).Close()
		if b.store.Struck() != 0 {
			t.Error("the store was asked")
		}
	})
}
