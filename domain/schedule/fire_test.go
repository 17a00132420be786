package schedule_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"aion/domain/schedule"
)

const uid = "0198aaaa-0000-7000-8000-000000000001"

func made(t interface{ Fatal(...any) }, set schedule.Settings, now time.Time) schedule.Schedule {
	s, err := schedule.New(schedule.Ref{Namespace: "default", ID: "s"}, uid, set, now, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func settings(spec string) schedule.Settings {
	return schedule.Settings{WorkflowType: "w", Spec: spec, Zone: "UTC", Overlap: schedule.Allow, CatchUp: time.Minute}
}

func TestAnUpdateLosesNoTimeThatHasCome(t *testing.T) {
	t.Parallel()
	s := made(t, settings("0 * * * *"), at("2026-07-01T09:30:00Z"))
	s, err := s.Update(settings("every 7s"), at("2026-07-01T10:00:00Z"), time.UTC) // 10:00 has come
	if err != nil {
		t.Fatal(err)
	}
	s, _, ok := s.Decide(at("2026-07-01T10:00:00.5Z"), "", time.UTC)
	if !ok || s.Starting == nil || !s.Starting.Nominal.Equal(at("2026-07-01T10:00:00Z")) {
		t.Fatalf("%v", s.Starting)
	}
	if s.Next.Sub(at("2026-07-01T10:00:00Z")) > 7*time.Second {
		t.Errorf("next is %s", s.Next)
	}
	s = made(t, settings("0 * * * *"), at("2026-07-01T09:30:00Z"))
	if s, err = s.Update(settings("@daily"), at("2026-07-01T09:59:59Z"), time.UTC); err != nil || !s.Next.Equal(at("2026-07-02T00:00:00Z")) {
		t.Errorf("%s %v", s.Next, err)
	}
}

// Whenever somebody looks, and whatever the clock shows then: times are decided in their order, each once and none early,
// and what was decided has a record or a start.
func TestDecisionsAreInOrderOnceAndNeverEarly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		set := settings(rapid.SampledFrom([]string{"every 1s", "every 90s", "*/5 * * * *", "0 * * * *"}).Draw(t, "spec"))
		set.Overlap = rapid.SampledFrom([]schedule.Overlap{schedule.Skip, schedule.BufferOne, schedule.Allow, schedule.CancelRunning}).Draw(t, "overlap")
		set.CatchUp = time.Duration(rapid.IntRange(0, 7200).Draw(t, "catch-up")) * time.Second
		set.Jitter = time.Duration(rapid.IntRange(0, 600).Draw(t, "jitter")) * time.Second
		now := at("2026-07-01T00:00:00Z")
		s := made(t, set, now)
		last, recorded := now, int64(0)
		settle := func() {
			started := *s.Starting
			var f schedule.Fire
			var ok bool
			if s, f, ok = s.Settle(started, "r", ""); !ok || f.N != recorded+1 || f.WorkflowID != s.WorkflowOf(f.Nominal) {
				t.Fatalf("%v %v", f, ok)
			}
			recorded = f.N
			if _, _, ok = s.Settle(started, "r", ""); ok {
				t.Fatal("it is settled twice")
			}
		}
		for range rapid.IntRange(1, 30).Draw(t, "looks") {
			now = now.Add(time.Duration(rapid.IntRange(-3600, 7200).Draw(t, "step")) * time.Second)
			open := rapid.SampledFrom([]string{"", "w"}).Draw(t, "open")
			for n := 0; ; n++ {
				buffered := s.Buffered
				after, fires, ok := s.Decide(now, "", time.UTC)
				if open != "" {
					after, fires, ok = s.Decide(now, "0198aaaa-0000-7000-8000-000000000002", time.UTC)
				}
				if !ok {
					break
				}
				if n > 20_000 {
					t.Fatal("it does not come to an end")
				}
				s = after
				for _, f := range fires {
					if !f.Nominal.After(last) || f.DecidedAt.Before(f.Nominal) || f.N != recorded+1 {
						t.Fatalf("%v comes after %s", f, last)
					}
					last, recorded = f.Nominal, f.N
				}
				if s.Starting == nil {
					continue
				}
				if nominal := s.Starting.Nominal; buffered == nil || !nominal.Equal(*buffered) {
					if !nominal.After(last) || now.Before(nominal) {
						t.Fatalf("%v comes after %s", s.Starting, last)
					}
					last = nominal
				}
				settle()
			}
			if !s.Next.After(last) || s.Due.Before(s.Next) {
				t.Fatalf("next is %s, due %s, after %s", s.Next, s.Due, last)
			}
		}
	})
}
