package conformance

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/schedule"
	"aion/ports"
)

// Schedules are the schedules with the histories of the runs that they have started.
type Schedules interface {
	ports.ScheduleStore
	ports.ScheduleQueue
	ports.EventStore
	ports.RunIndex
}

// ScheduleStore runs the suites of ports.ScheduleStore and ports.ScheduleQueue.
func ScheduleStore(t *testing.T, open func(testing.TB) Schedules) {
	run(t, open, map[string]func(*testing.T, Schedules){
		"what was never made is not found":                   noSchedule,
		"a schedule comes back whole":                        scheduleReturns,
		"a second one of the same id is refused":             sameScheduleAgain,
		"the key of a creation finds what it has made":       scheduleByKey,
		"20 parallel creations with one key make one":        oneScheduleMade,
		"schedules are listed by id, filtered, page by page": scheduleLists,
		"an error of a change changes nothing":               scheduleUnchanged,
		"20 parallel changes happen one after the other":     scheduleChangesInTurn,
		"fires are listed newest first, and the oldest go":   firesListed,
		"a removed schedule takes its fires along":           scheduleGoes,
		"due schedules come by time, page by page":           schedulesDue,
		"the open runs of a schedule are its own":            openOfSchedule,
	})
}

func nightly(n int) schedule.Schedule {
	return schedule.Schedule{
		Namespace: namespace, ID: schedule.ID(fmt.Sprint("nightly-", n)), UID: id(n), Revision: 1, CreatedAt: start, UpdatedAt: start,
		Settings: schedule.Settings{WorkflowType: "ship", Spec: "0 3 * * *", Zone: "UTC", Overlap: schedule.Skip, CatchUp: time.Minute},
		Next:     start.Add(time.Duration(n) * time.Hour), Due: start.Add(time.Duration(n)*time.Hour + time.Microsecond),
	}
}

func create(t *testing.T, s Schedules, v schedule.Schedule) {
	t.Helper()
	if _, made, err := s.CreateSchedule(t.Context(), v, time.Time{}); err != nil || !made {
		t.Fatalf("create %s: made %v, %v", v.ID, made, err)
	}
}

func noSchedule(t *testing.T, s Schedules) {
	of := nightly(1).Ref()
	_, err := s.Schedule(t.Context(), of)
	wantCode(t, err, domain.CodeNotFound, "ScheduleNotFound")
	_, err = s.ChangeSchedule(t.Context(), of, func(v schedule.Schedule) (schedule.Schedule, []schedule.Fire, error) { return v, nil, nil })
	wantCode(t, err, domain.CodeNotFound, "ScheduleNotFound")
	wantCode(t, s.DeleteSchedule(t.Context(), of, nil, nil), domain.CodeNotFound, "ScheduleNotFound")
	all, err := s.Schedules(t.Context(), ports.ScheduleFilter{Namespace: namespace, Limit: 10})
	same(t, "all", must(t, all, err), []schedule.Schedule(nil))
	fires, err := s.Fires(t.Context(), nightly(1), 0, 10)
	same(t, "fires", must(t, fires, err), []schedule.Fire(nil))
	next, err := s.NextSchedule(t.Context(), nil)
	same(t, "next", must(t, next, err), time.Time{})
}

func scheduleReturns(t *testing.T, s Schedules) {
	full := nightly(1)
	full.Settings = schedule.Settings{
		WorkflowType: "ship", Input: domain.Payload(`{ "n": 9007199254740993, "s": "<\u0000>" }`), Spec: "every 90s", Zone: "Europe/Berlin",
		Overlap: schedule.CancelRunning, CatchUp: time.Hour + time.Millisecond, Jitter: time.Second, Labels: map[string]string{"team": "é"},
		Description: "for é\x00 and <b>",
	}
	full.Creator = schedule.Creator{
		Subject: "ada", Mode: "jwks", Source: "claim", Issuer: "https://issuer", Namespaces: []domain.Namespace{"a", "b"}, Deploy: true,
	}
	full.Paused = &schedule.Pause{By: "bob", Reason: "why\x00", Since: start.Add(time.Second)}
	full.Revision, full.CaughtUp, full.Fires = 7, 3, 9
	full.Starting = &schedule.Fire{Nominal: start, DecidedAt: start.Add(time.Second), Action: schedule.Fired, Reason: "on time", WorkflowID: "w", Cancel: true}
	full.Buffered = new(start.Add(time.Minute))
	full.Backfill = []schedule.Fire{{Nominal: start, DecidedAt: start, Action: schedule.CaughtUp, Reason: "backfill"}}
	for _, v := range []schedule.Schedule{full, {Namespace: namespace, ID: "bare", UID: id(2), Revision: 1, CreatedAt: start}} {
		stored, made, err := s.CreateSchedule(t.Context(), v, time.Time{})
		same(t, "the answer", must(t, stored, err), v)
		same(t, "made", made, true)
		got, err := s.Schedule(t.Context(), v.Ref())
		same(t, "by name", must(t, got, err), v)
		same(t, "its input", string(got.Input), string(v.Input))
	}
}

func sameScheduleAgain(t *testing.T, s Schedules) {
	create(t, s, nightly(1))
	again := nightly(1)
	again.UID, again.Spec = id(2), "0 4 * * *"
	_, _, err := s.CreateSchedule(t.Context(), again, time.Time{})
	wantCode(t, err, domain.CodeInvalidState, "ScheduleExists")
	elsewhere := again
	elsewhere.Namespace = "other"
	create(t, s, elsewhere)
	got, err := s.Schedule(t.Context(), again.Ref())
	same(t, "the first", must(t, got, err), nightly(1))
}

func scheduleByKey(t *testing.T, s Schedules) {
	first, second := nightly(1), nightly(2)
	first.RequestKey, second.RequestKey = "k", "k"
	create(t, s, first)
	stored, made, err := s.CreateSchedule(t.Context(), second, start.Add(-time.Hour))
	same(t, "the answer", must(t, stored, err), first)
	same(t, "made", made, false)
	second.RequestKey = "other"
	create(t, s, second)
	third := nightly(3)
	third.RequestKey = "k"
	_, made, err = s.CreateSchedule(t.Context(), third, start) // the key is too old
	same(t, "made", must(t, made, err), true)
}

func oneScheduleMade(t *testing.T, s Schedules) {
	made := make([]bool, 20)
	for _, err := range together(len(made), func(n int) error {
		v := nightly(n)
		v.RequestKey = "k"
		_, m, err := s.CreateSchedule(t.Context(), v, time.Time{})
		made[n] = m
		return err
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	all, err := s.Schedules(t.Context(), ports.ScheduleFilter{Namespace: namespace, Limit: 100})
	same(t, "stored", len(must(t, all, err)), 1)
	count := 0
	for _, m := range made {
		if m {
			count++
		}
	}
	same(t, "made", count, 1)
}

func scheduleLists(t *testing.T, s Schedules) {
	var all, paused, other []schedule.Schedule
	for n := range 7 {
		v := nightly(n)
		if n%2 == 0 {
			v.Paused = &schedule.Pause{By: "bob", Since: start}
			paused = append(paused, v)
		}
		if n%3 == 0 {
			v.WorkflowType = "other"
			other = append(other, v)
			if n%2 == 0 {
				paused[len(paused)-1] = v
			}
		}
		create(t, s, v)
		all = append(all, v)
	}
	far := nightly(9)
	far.Namespace = "far"
	create(t, s, far)
	list := func(f ports.ScheduleFilter) []schedule.Schedule {
		f.Namespace = namespace
		got, err := s.Schedules(t.Context(), f)
		return must(t, got, err)
	}
	same(t, "all", list(ports.ScheduleFilter{Limit: 100}), all)
	same(t, "paused", list(ports.ScheduleFilter{Limit: 100, Paused: new(true)}), paused)
	same(t, "not paused", len(list(ports.ScheduleFilter{Limit: 100, Paused: new(false)})), len(all)-len(paused))
	same(t, "of a type", list(ports.ScheduleFilter{Limit: 100, WorkflowType: "other"}), other)
	same(t, "a page", list(ports.ScheduleFilter{Limit: 2, After: all[2].ID}), all[3:5])
	same(t, "none", list(ports.ScheduleFilter{Limit: 0}), []schedule.Schedule(nil))
}

func scheduleUnchanged(t *testing.T, s Schedules) {
	create(t, s, nightly(1))
	refusal := errors.New("no")
	_, err := s.ChangeSchedule(t.Context(), nightly(1).Ref(), func(v schedule.Schedule) (schedule.Schedule, []schedule.Fire, error) {
		v.Spec = "every 1s"
		return v, []schedule.Fire{{N: 1}}, refusal
	})
	if !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	if err := s.DeleteSchedule(t.Context(), nightly(1).Ref(), func(schedule.Schedule) error { return refusal }, nil); !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	got, err := s.Schedule(t.Context(), nightly(1).Ref())
	same(t, "stored", must(t, got, err), nightly(1))
	fires, err := s.Fires(t.Context(), got, 0, 10)
	same(t, "fires", must(t, fires, err), []schedule.Fire(nil))
}

func fireOf(n int64) schedule.Fire {
	return schedule.Fire{
		N: n, Nominal: start.Add(time.Duration(n) * time.Hour), DecidedAt: start.Add(time.Duration(n)*time.Hour + time.Microsecond),
		Action: schedule.Skipped, Reason: "é\x00", WorkflowID: "w", RunID: "r",
	}
}

// another records the next fire.
func another(v schedule.Schedule) (schedule.Schedule, []schedule.Fire, error) {
	v.Fires++
	v.Due = v.Due.Add(time.Hour)
	return v, []schedule.Fire{fireOf(v.Fires)}, nil
}

func scheduleChangesInTurn(t *testing.T, s Schedules) {
	create(t, s, nightly(1))
	for _, err := range together(20, func(int) error {
		_, err := s.ChangeSchedule(t.Context(), nightly(1).Ref(), another)
		return err
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	got, err := s.Schedule(t.Context(), nightly(1).Ref())
	same(t, "numbered", must(t, got, err).Fires, int64(20))
	fires, err := s.Fires(t.Context(), got, 0, 100)
	same(t, "fires", len(must(t, fires, err)), 20)
}

func firesListed(t *testing.T, s Schedules) {
	create(t, s, nightly(1))
	for range 3 {
		stored, err := s.ChangeSchedule(t.Context(), nightly(1).Ref(), another)
		if err != nil || stored.Fires == 0 {
			t.Fatal(stored, err)
		}
	}
	list := func(before int64, limit int) []schedule.Fire {
		got, err := s.Fires(t.Context(), nightly(1), before, limit)
		return must(t, got, err)
	}
	same(t, "all", list(0, 10), []schedule.Fire{fireOf(3), fireOf(2), fireOf(1)})
	same(t, "a page", list(3, 1), []schedule.Fire{fireOf(2)})
	same(t, "no more", list(1, 10), []schedule.Fire(nil))
	_, err := s.ChangeSchedule(t.Context(), nightly(1).Ref(), func(v schedule.Schedule) (schedule.Schedule, []schedule.Fire, error) {
		v.Fires = ports.KeptFires + 2
		return v, []schedule.Fire{fireOf(v.Fires)}, nil
	})
	same(t, "kept", must(t, list(0, 10), err), []schedule.Fire{fireOf(ports.KeptFires + 2), fireOf(3)})
}

func scheduleGoes(t *testing.T, s Schedules) {
	create(t, s, nightly(1))
	if _, err := s.ChangeSchedule(t.Context(), nightly(1).Ref(), another); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteSchedule(t.Context(), nightly(1).Ref(), nil, nil); err != nil {
		t.Fatal(err)
	}
	_, err := s.Schedule(t.Context(), nightly(1).Ref())
	wantCode(t, err, domain.CodeNotFound, "ScheduleNotFound")
	fires, err := s.Fires(t.Context(), nightly(1), 0, 10)
	same(t, "fires", must(t, fires, err), []schedule.Fire(nil))
	create(t, s, nightly(1))
}

func schedulesDue(t *testing.T, s Schedules) {
	never := nightly(9)
	never.Next, never.Due = time.Time{}, time.Time{}
	create(t, s, never)
	waiting := nightly(8)
	waiting.Starting = &schedule.Fire{Nominal: start, DecidedAt: start}
	create(t, s, waiting)
	var want []ports.DueSchedule
	for _, n := range []int{3, 1, 2, 4} {
		create(t, s, nightly(n))
	}
	twin := nightly(2)
	twin.ID, twin.UID = "twin", id(99)
	create(t, s, twin)
	for _, v := range []schedule.Schedule{waiting, nightly(1), nightly(2), twin, nightly(3)} {
		want = append(want, ports.DueSchedule{WakeAt: v.WakeAt(), Ref: v.Ref()})
	}
	now := nightly(3).Due
	got, err := s.DueSchedules(t.Context(), nil, now, nil, 100)
	same(t, "due", must(t, got, err), want)
	got, err = s.DueSchedules(t.Context(), nil, now, nil, 2)
	same(t, "the first page", must(t, got, err), want[:2])
	got, err = s.DueSchedules(t.Context(), nil, now, &want[2], 2)
	same(t, "behind a place", must(t, got, err), want[3:])
	got, err = s.DueSchedules(t.Context(), nil, now.Add(-time.Microsecond), nil, 100)
	same(t, "a moment before", must(t, got, err), want[:4])
	next, err := s.NextSchedule(t.Context(), nil)
	same(t, "next", must(t, next, err), waiting.WakeAt())
	if err := s.DeleteSchedule(t.Context(), waiting.Ref(), nil, nil); err != nil {
		t.Fatal(err)
	}
	next, err = s.NextSchedule(t.Context(), nil)
	same(t, "then", must(t, next, err), nightly(1).Due)
}

func openOfSchedule(t *testing.T, s Schedules) {
	of := nightly(1).Ref()
	var want []history.RunRow
	for n, c := range []struct {
		ns     domain.Namespace
		id     string
		status history.Status
	}{
		{namespace, "nightly-1", history.Running},
		{namespace, "nightly-2", history.Running},
		{"other", "nightly-1", history.Running},
		{namespace, "nightly-1", history.Completed},
		{namespace, "nightly-1", history.Paused},
		{namespace, "", history.Running},
	} {
		f := newFlow(n + 1)
		commit := f.started()
		row := f.row(c.status)
		row.Namespace, row.ScheduleID, row.StartedAt = c.ns, c.id, start.Add(time.Duration(n)*time.Second)
		commit.Namespace, commit.Rows = c.ns, []history.RunRow{row}
		mustAppend(t, s, commit)
		if c.ns == namespace && c.id == "nightly-1" && !c.status.Terminal() {
			want = append(want, row)
		}
	}
	got, err := s.OpenOfSchedule(t.Context(), of, 10)
	same(t, "open", must(t, got, err), want)
	got, err = s.OpenOfSchedule(t.Context(), of, 1)
	same(t, "the first", must(t, got, err), want[:1])
	listed, err := s.List(t.Context(), ports.RunFilter{Namespace: namespace, ScheduleID: "nightly-1"}, nil, 10)
	same(t, "listed", len(must(t, listed, err)), 3)
}
