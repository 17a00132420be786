package runs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aion/application/runs"
	"aion/application/transcripts"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
	"aion/domain/transcript"
	"aion/ports"
	"aion/test/fake"
)

// report 58: pages give each run once while others start; the last has no cursor.
func TestListGivesEachRunOnceWhileOthersStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, instant, threeSteps())
		defer w.stop()
		want := map[domain.WorkflowID]int{}
		for range 25 {
			want[w.start("three").Run.WorkflowID] = 0
			time.Sleep(time.Millisecond)
		}
		req := runs.ListRequest{Namespace: "default", Limit: 7, WorkflowType: "three"}
		for {
			page, err := w.runs.List(context.Background(), operator, req)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Runs {
				if _, ok := want[r.WorkflowID]; !ok {
					t.Errorf("a run that started later is on the page")
				}
				want[r.WorkflowID]++
			}
			w.start("three")
			if page.NextCursor == "" {
				break
			}
			if page.NextCursor == req.Cursor {
				t.Fatal("the cursor does not advance")
			}
			req.Cursor = page.NextCursor
		}
		for id, n := range want {
			if n != 1 {
				t.Errorf("%s came %d times", id, n)
			}
		}
		req.Cursor = "AAAA"
		_, err := w.runs.List(context.Background(), operator, req)
		wantRefusal(t, err, domain.CodeInvalidInput, "CursorInvalid", "without a cursor")
		first, err := w.runs.List(context.Background(), operator, runs.ListRequest{Namespace: "default", Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.runs.List(context.Background(), operator, runs.ListRequest{Namespace: "default", Limit: 1, WorkflowType: "x", Cursor: first.NextCursor})
		wantRefusal(t, err, domain.CodeInvalidInput, "CursorInvalid", "other filters")
	})
}

func TestDescribeShowsTheRunningAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, untilStopped, threeSteps())
		defer w.stop()
		s := w.start("three")
		synctest.Wait()
		d := w.describe(s)
		if d.CurrentStep == nil || d.CurrentStep.ActivityType != "one" || d.CurrentStep.Attempt != 1 || d.CurrentStep.Step != "a" ||
			d.CurrentStep.State != "started" || d.CurrentStep.TaskQueue != "shell" {
			t.Errorf("current step %+v", d.CurrentStep)
		}
		if len(d.OpenSteps) != 1 || len(d.Unserved) != 0 || !d.IsLatestRun || d.HeadSeq != 5 || len(d.WaitingOn) != 0 {
			t.Errorf("%+v", d)
		}
		_, err := w.runs.Describe(context.Background(), operator, runs.Ref{
			Namespace: "default", WorkflowID: string(s.Run.WorkflowID),
			RunID: "00000000-0000-0000-0000-000000000001",
		})
		wantRefusal(t, err, domain.CodeNotFound, "RunNotFound", "is not a run of workflow")
	})
}

func TestQueryReadsTheFoldedState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, instant, approval("ask", 0))
		defer w.stop()
		s := w.start("ask")
		synctest.Wait()
		ask := func(name string) (string, error) {
			a, err := w.runs.Query(context.Background(), operator, runs.QueryRequest{Ref: refOf(s), Name: name})
			return string(a.Result), err
		}
		if state, err := ask("state"); err != nil || !strings.Contains(state, `"waiting_on":{"signal":"go"}`) {
			t.Errorf("%s %v", state, err)
		}
		_, err := ask("nothing")
		wantRefusal(t, err, domain.CodeUnknownQuery, "UnknownQuery", "bindings")
	})
}

func TestQueryIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := startWorld(t, newStore(), settings{cache: 1, runs: runs.Limits{QueryTimeout: time.Second}}, instant, approval("ask", 0))
		defer w.stop()
		s := w.start("ask")
		synctest.Wait()
		other := w.start("ask") // the first one is forgotten
		synctest.Wait()
		hold := make(chan struct{})
		defer close(hold)
		w.store.Script(fake.Fault{Op: "History", Call: 1, Hold: hold})
		_, err := w.runs.Query(context.Background(), operator, runs.QueryRequest{Ref: refOf(s), Name: "state"})
		wantRefusal(t, err, domain.CodeQueryTimeout, "QueryTimeout", "1s")
		if _, err := w.runs.Query(context.Background(), operator, runs.QueryRequest{Ref: refOf(other), Name: "state"}); err != nil {
			t.Errorf("another run: %v", err)
		}
	})
}

// mcp 35, mcp 36: history pages reach the head and name it.
func TestHistoryPagesCoverEveryEventOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, instant, threeSteps())
		defer w.stop()
		s := w.start("three")
		w.await(s)
		var all []history.Recorded
		for from := history.Seq(1); ; {
			page, err := w.runs.History(context.Background(), operator, runs.HistoryRequest{
				Namespace:  "default",
				WorkflowID: string(s.Run.WorkflowID), FromSeq: from, Limit: 5,
			})
			if err != nil {
				t.Fatal(err)
			}
			if page.HeadSeq != 16 {
				t.Errorf("head %d", page.HeadSeq)
			}
			if len(page.Events) == 0 {
				break
			}
			all = append(all, page.Events...)
			from = page.Events[len(page.Events)-1].Seq + 1
		}
		verify(t, threeSteps(), all)
	})
}

// actions 4, actions 62, actions 64
func TestTranscriptOfAnAttemptIsReadAndFollowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		more := make(chan struct{})
		w := newWorld(t, func(ctx context.Context, e ports.Execution, out ports.TranscriptWriter) action.Verdict {
			for i := range 3 {
				out.Write(transcript.Record{Kind: transcript.Message, Role: "tool", Text: fmt.Sprint(i)})
			}
			<-more
			for i := range 600 {
				out.Write(transcript.Record{Kind: transcript.Message, Role: "tool", Text: fmt.Sprint(3 + i)})
			}
			return instant(ctx, e, out)
		}, oneStep("one", nil))
		defer w.stop()
		s := w.start("one")
		time.Sleep(time.Second)
		req := transcripts.ReadRequest{Namespace: "default", WorkflowID: string(s.Run.WorkflowID), RunID: string(s.Run.RunID), Attempt: 1}
		page, err := w.read.Read(context.Background(), operator, req)
		if err != nil || len(page.Records) != 3 || page.HeadSeq != 3 || !page.AttemptOpen || page.ActivityType != "work" {
			t.Errorf("%+v %v", page, err)
		}
		var seen []string
		done := make(chan error)
		go func() {
			done <- w.read.Follow(context.Background(), operator, req, func(r transcript.Record) error {
				seen = append(seen, r.Text)
				return nil
			})
		}()
		synctest.Wait()
		close(more)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if len(seen) != 603 {
			t.Fatalf("%d lines followed", len(seen))
		}
		for i, text := range seen {
			if text != fmt.Sprint(i) {
				t.Fatalf("line %d is %q", i, text)
			}
		}
		if d := w.describe(s); len(d.Transcripts) != 1 || d.Transcripts[0].HeadSeq != 603 || d.Transcripts[0].ActivityType != "work" {
			t.Errorf("%+v", d.Transcripts)
		}
		req.FromSeq = 10_000
		if page, err = w.read.Read(context.Background(), operator, req); err != nil || len(page.Records) != 0 || page.HeadSeq != 603 || page.AttemptOpen {
			t.Errorf("past the end: %+v %v", page, err)
		}
		req.Attempt = 2
		_, err = w.read.Read(context.Background(), operator, req)
		wantRefusal(t, err, domain.CodeNotFound, "TranscriptNotFound", "never dispatched")
	})
}

func FuzzCursorIsAcceptedOrRefused(f *testing.F) {
	req := runs.ListRequest{Namespace: "default", Statuses: []history.Status{history.Running}}
	f.Add(runs.CursorAfter(req, history.RunRow{StartedAt: time.Unix(1, 0), RunID: "0198aaaa-0000-7000-8000-000000000001"}))
	f.Add("")
	f.Add("AAAA")
	store := newStore()
	service := runs.New(runs.Deps{Index: store, Events: store})
	f.Fuzz(func(t *testing.T, cursor string) {
		req := req
		req.Cursor = cursor
		if _, err := service.List(context.Background(), operator, req); err != nil && domain.CodeOf(err) != domain.CodeInvalidInput {
			t.Errorf("%q: %v", cursor, err)
		}
	})
}
