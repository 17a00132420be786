package schedules_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aion/application/runs"
	"aion/application/schedules"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/schedule"
	"aion/test/fake"
)

func stranger() access.Caller {
	return access.Caller{Subject: "eve", Mode: "token", Namespaces: []domain.Namespace{"other"}}
}

func TestASettingOutOfItsBoundsIsRefused(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		for name, c := range map[string]struct {
			change func(*schedules.CreateRequest)
			code   domain.Code
			typ    string
		}{
			"an id":            {func(r *schedules.CreateRequest) { r.ID = "Not so" }, domain.CodeInvalidInput, "NameInvalid"},
			"a spec":           {func(r *schedules.CreateRequest) { r.Settings.Spec = "0 0 30 2 *" }, domain.CodeInvalidInput, "ScheduleSpecInvalid"},
			"a zone":           {func(r *schedules.CreateRequest) { r.Settings.Zone = "Mars/Base" }, domain.CodeInvalidInput, "ScheduleSpecInvalid"},
			"the host's zone":  {func(r *schedules.CreateRequest) { r.Settings.Zone = "Local" }, domain.CodeInvalidInput, "ScheduleSpecInvalid"},
			"a file as a zone": {func(r *schedules.CreateRequest) { r.Settings.Zone = "../../etc/passwd" }, domain.CodeInvalidInput, "ScheduleSpecInvalid"},
			"a rule":           {func(r *schedules.CreateRequest) { r.Settings.Overlap = "never" }, domain.CodeInvalidInput, "SchemaViolation"},
			"a jitter":         {func(r *schedules.CreateRequest) { r.Settings.Jitter = 25 * time.Hour }, domain.CodeInvalidInput, "SchemaViolation"},
			"a catch-up":       {func(r *schedules.CreateRequest) { r.Settings.CatchUp = -1 }, domain.CodeInvalidInput, "SchemaViolation"},
			"a type":           {func(r *schedules.CreateRequest) { r.Settings.WorkflowType = "none" }, domain.CodeNotFound, "WorkflowTypeNotFound"},
			"no type":          {func(r *schedules.CreateRequest) { r.Settings.WorkflowType = "" }, domain.CodeInvalidInput, "SchemaViolation"},
			"an input":         {func(r *schedules.CreateRequest) { r.Settings.Input = []byte(`7`) }, domain.CodeInvalidInput, "InputRejected"},
			"a label":          {func(r *schedules.CreateRequest) { r.Settings.Labels = map[string]string{"A": ""} }, domain.CodeInvalidInput, "SchemaViolation"},
			"a namespace":      {func(r *schedules.CreateRequest) { r.Namespace = "Bad" }, domain.CodeNotFound, "NamespaceNotFound"},
			"a long text":      {func(r *schedules.CreateRequest) { r.Settings.Description = strings.Repeat("x", 1001) }, domain.CodeInvalidInput, "SchemaViolation"},
		} {
			req := schedules.CreateRequest{Namespace: "default", ID: "s", Settings: settings("quick", "@hourly", schedule.Skip)}
			c.change(&req)
			_, err := w.Create(context.Background(), operator, req)
			if domain.CodeOf(err) != c.code || domain.TypeOf(err) != c.typ {
				w.t.Errorf("%s: %v", name, err)
			}
		}
		list, _, err := w.List(context.Background(), operator, schedules.ListRequest{Namespace: "default", Limit: 10})
		if err != nil || len(list) != 0 {
			w.t.Errorf("%v %v", list, err)
		}
	})
}

func TestTheSameKeyMakesOneSchedule(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		req := schedules.CreateRequest{Namespace: "default", Settings: settings("quick", "@hourly", schedule.Skip), Key: "k"}
		first, err := w.Create(context.Background(), operator, req)
		if err != nil || first.Repeated || first.ID == "" {
			w.t.Fatal(first, err)
		}
		again, err := w.Create(context.Background(), operator, req)
		if err != nil || !again.Repeated || again.ID != first.ID {
			w.t.Error(again, err)
		}
		req.Settings.Spec = "@daily"
		_, err = w.Create(context.Background(), operator, req)
		refused(w.t, err, domain.CodeIdempotencyConflict, "IdempotencyConflict")
		w.clock.Advance(25 * time.Hour)
		later, err := w.Create(context.Background(), operator, req)
		if err != nil || later.ID == first.ID {
			w.t.Error(later, err)
		}
	})
}

func TestASchedulesRunsActForItsCreatorAlone(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		ada := access.Caller{Subject: "ada", Mode: "token", Source: "header", Namespaces: []domain.Namespace{"default"}}
		req := schedules.CreateRequest{Namespace: "default", ID: "s", Settings: settings("quick", "* * * * *", schedule.Skip)}
		_, err := w.Create(context.Background(), stranger(), req)
		refused(w.t, err, domain.CodeNamespaceDenied, "NamespaceNotGranted")
		if _, err := w.Create(context.Background(), ada, req); err != nil {
			w.t.Fatal(err)
		}
		_, err = w.Describe(context.Background(), stranger(), "default", "s")
		refused(w.t, err, domain.CodeNamespaceDenied, "NamespaceNotGranted")
		_, err = w.Trigger(context.Background(), stranger(), schedules.TriggerRequest{Namespace: "default", ID: "s"})
		refused(w.t, err, domain.CodeNamespaceDenied, "NamespaceNotGranted")
		w.pass(time.Minute)
		w.want("s", "fired")
		records, err := w.backend.AuditRecords(context.Background(), 0, 100)
		if err != nil {
			w.t.Fatal(err)
		}
		var told []string
		for _, r := range records {
			told = append(told, r.Surface+" "+r.Action+" "+r.Subject)
		}
		if got := strings.Join(told, ", "); got != "system schedule.create ada, schedule run.start ada" {
			w.t.Error(got)
		}
	})
}

// Who calls itself like a schedule starts no run of one.
func TestACallerIsNoSchedule(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		who := operator
		who.Subject = "schedule:s"
		got, err := w.runs.Start(context.Background(), who, runs.StartRequest{Namespace: "default", WorkflowType: "slow"})
		if err != nil || got.Run.ScheduleID != "" || len(w.runsOf("s")) != 0 {
			w.t.Errorf("%v %v", got, err)
		}
	})
}

// server 1.8
func TestAStaleChangeIsRefused(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.create("s", settings("quick", "* * * * *", schedule.Skip))
		update := func(revision, spec string) (schedules.Shown, error) {
			req := schedules.UpdateRequest{
				Namespace: "default", ID: "s", Settings: settings("quick", spec, schedule.Skip), Revision: revision, Any: revision == "*",
			}
			if req.Any {
				req.Revision = ""
			}
			return w.Update(context.Background(), operator, req)
		}
		got, err := update("1", "@hourly")
		if err != nil || got.Revision != 2 || got.Spec != "@hourly" || got.Next.Minute() != 0 {
			w.t.Fatal(got, err)
		}
		_, err = update("1", "@daily")
		refused(w.t, err, domain.CodeInvalidInput, "RevisionMismatch")
		refused(w.t, w.Delete(context.Background(), operator, "default", "s", "1"), domain.CodeInvalidInput, "RevisionMismatch")
		_, err = update("", "@daily")
		refused(w.t, err, domain.CodeInvalidInput, "PreconditionRequired")
		_, err = update("1", "no spec")
		refused(w.t, err, domain.CodeInvalidInput, "RevisionMismatch") // before the value
		if _, err = update("*", "@daily"); err != nil {
			w.t.Error(err)
		}
		if err := w.Delete(context.Background(), operator, "default", "s", "3"); err != nil {
			w.t.Error(err)
		}
		_, err = update("3", "@daily")
		refused(w.t, err, domain.CodeNotFound, "ScheduleNotFound")
		_, err = w.Describe(context.Background(), operator, "default", "NO SUCH")
		refused(w.t, err, domain.CodeNotFound, "ScheduleNotFound")
	})
}

func TestTriggerStartsOneRunForAKeyAndKeepsTheRule(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.create("s", settings("slow", "@yearly", schedule.Skip))
		trigger := func(key string, overlap schedule.Overlap) (domain.WorkflowID, bool, error) {
			got, err := w.Trigger(context.Background(), operator, schedules.TriggerRequest{Namespace: "default", ID: "s", Key: key, Overlap: overlap})
			return got.First.WorkflowID, got.Existing, err
		}
		first, existing, err := trigger("k", "")
		if err != nil || existing {
			w.t.Fatal(err)
		}
		again, existing, err := trigger("k", "")
		if err != nil || !existing || again != first {
			w.t.Error(again, existing, err)
		}
		_, _, err = trigger("", "")
		refused(w.t, err, domain.CodeInvalidState, "ScheduleOverlap")
		_, _, err = trigger("", "sometimes")
		refused(w.t, err, domain.CodeInvalidInput, "SchemaViolation")
		if beside, _, err := trigger("", schedule.Allow); err != nil || beside == first {
			w.t.Error(beside, err)
		}
		if _, _, err := trigger("", schedule.CancelRunning); err != nil {
			w.t.Error(err)
		}
		if shown := w.shown("s"); len(shown.Running) != 1 || len(shown.Fires) != 3 || shown.Fires[0].Reason != "asked for by operator" {
			w.t.Errorf("%v %v", shown.Running, shown.Fires)
		}
	})
}

func TestBackfillStartsEachTimeOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.create("s", settings("slow", "* * * * *", schedule.Skip))
		w.pass(2 * time.Minute)
		w.want("s", "fired skipped")
		fill := func(from, to time.Time, limit int) (int, error) {
			return w.Backfill(context.Background(), operator, schedules.BackfillRequest{
				Namespace: "default", ID: "s", Span: schedule.Span{From: from, To: to, Limit: limit},
			})
		}
		first, second := w.fires("s")[0].Nominal, w.fires("s")[1].Nominal
		n, err := fill(first.Add(-2*time.Minute), second, 100)
		if err != nil || n != 4 {
			w.t.Fatal(n, err)
		}
		w.pass(2 * time.Second)
		w.want("s", "fired skipped caught_up caught_up caught_up caught_up")
		if rows := w.runsOf("s"); len(rows) != 4 { // the first time had its run
			w.t.Errorf("%d runs", len(rows))
		}
		_, err = fill(second, first, 100)
		refused(w.t, err, domain.CodeInvalidInput, "SchemaViolation")
		_, err = fill(second, w.clock.Now().Add(time.Hour), 100)
		refused(w.t, err, domain.CodeInvalidInput, "SchemaViolation")
		n, err = fill(first.Add(-1000*time.Minute), second, 7)
		if err != nil || n != 7 {
			w.t.Error(n, err)
		}
	})
}

// Fires are put off by what depends on the schedule and the time alone, and keep their order.
func TestJitterPutsOffAndKeepsTheOrder(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		set := settings("quick", "every 10s", schedule.Allow)
		set.Jitter = time.Minute
		w.create("s", set)
		w.pass(10 * time.Minute)
		w.once("s")
		late := map[time.Duration]bool{}
		var last schedule.Fire
		for _, f := range w.fires("s") {
			if f.DecidedAt.Before(f.Nominal) || f.DecidedAt.Before(last.DecidedAt) || !f.Nominal.After(last.Nominal) || f.Action != schedule.Fired {
				w.t.Errorf("%v after %v", f, last)
			}
			late[f.DecidedAt.Sub(f.Nominal)] = true
			last = f
		}
		if len(late) < 10 {
			w.t.Errorf("it is put off by %v only", late)
		}
	})
}

func TestAPausedScheduleIsMadePausedAndSaysWhy(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		_, err := w.Create(context.Background(), operator, schedules.CreateRequest{
			Namespace: "default", ID: "s", Settings: settings("quick", "* * * * *", schedule.Skip), Paused: true,
		})
		if err != nil {
			w.t.Fatal(err)
		}
		w.pass(2 * time.Minute)
		w.want("s", "skipped skipped")
		shown, err := w.Pause(context.Background(), operator, "default", "s", "again")
		if err != nil || shown.Paused == nil || shown.Paused.Reason != "" || !shown.Paused.Since.Equal(fake.Epoch) {
			w.t.Errorf("%v %v", shown.Paused, err)
		}
		paused := true
		list, more, err := w.List(context.Background(), operator, schedules.ListRequest{Namespace: "default", Paused: &paused, Limit: 1})
		if err != nil || more || len(list) != 1 || len(list[0].NextTimes) != 5 {
			w.t.Errorf("%v %v", list, err)
		}
	})
}

func TestPreviewTellsWhatTheClocksDo(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		preview := func(spec, after string) ([]time.Time, []string) {
			from, err := time.Parse(time.RFC3339, after)
			if err != nil {
				w.t.Fatal(err)
			}
			times, notes, err := w.Preview(context.Background(), operator, "default",
				schedules.PreviewRequest{Spec: spec, Zone: "Europe/Berlin", After: from, Count: 3})
			if err != nil {
				w.t.Fatal(err)
			}
			return times, notes
		}
		times, notes := preview("30 2 * * *", "2026-03-28T00:00:00Z")
		if len(times) != 3 || len(notes) != 1 || !strings.Contains(notes[0], "2026-03-29T03:00:00+02:00: the clock skips") {
			w.t.Errorf("%v %v", times, notes)
		}
		if _, notes = preview("30 2 * * *", "2026-10-24T03:00:00Z"); len(notes) != 1 || !strings.Contains(notes[0], "twice") {
			w.t.Errorf("%v", notes)
		}
		if _, notes = preview("30 2 * * *", "2026-07-01T00:00:00Z"); len(notes) != 0 {
			w.t.Errorf("%v", notes)
		}
		if _, notes = preview("every 90s", "2026-07-01T00:00:00Z"); fmt.Sprint(notes) == "[]" {
			w.t.Errorf("%v", notes)
		}
	})
}

// A deleted schedule fires no more; its runs go on.
func TestADeletedScheduleLeavesItsRuns(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.create("s", settings("slow", "* * * * *", schedule.Skip))
		w.pass(time.Minute)
		if err := w.Delete(context.Background(), operator, "default", "s", ""); err != nil {
			w.t.Fatal(err)
		}
		w.pass(2 * time.Minute)
		if rows := w.runsOf("s"); len(rows) != 1 || rows[0].Status.Terminal() {
			w.t.Errorf("%v", rows)
		}
		synctest.Wait()
	})
}
