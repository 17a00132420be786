package history_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/domain"
	"aion/domain/history"
)

// kinds holds one event of each kind.
func kinds() []history.Event {
	return []history.Event{
		history.WorkflowStarted{},
		history.ActivityStarted{},
		history.ActivityCompleted{},
		history.ActivityFailed{},
		history.TimerFired{},
		history.SignalReceived{},
		history.ChildCompleted{},
		history.ChildFailed{},
		history.WorkflowPaused{},
		history.WorkflowResumed{},
		history.WorkflowReopened{},
		history.WorkflowCancelled{},
		history.ActivityScheduled{},
		history.ActivityCancelled{},
		history.TimerStarted{},
		history.TimerCancelled{},
		history.ChildStarted{},
		history.ChildCancelled{},
		history.WorkflowCompleted{},
		history.WorkflowFailed{},
		history.WorkflowTimedOut{},
		history.WorkflowContinuedAsNew{},
		history.StepEntered{},
		history.OutcomeTaken{},
		history.StepFailed{},
		history.ForkStarted{},
		history.ForkJoined{},
		history.LoopPass{},
		history.LoopEnded{},
		history.RegionOpened{},
		history.RegionSlot{},
		history.RegionClosed{},
		history.SubflowEntered{},
		history.SubflowLeft{},
	}
}

// full gives an event of the same kind with something in every member, so that a member which is not written is missed.
func full(t *testing.T, e history.Event) history.Event {
	t.Helper()
	v := reflect.New(reflect.TypeOf(e))
	fill(t, v.Elem())
	return v.Elem().Interface().(history.Event)
}

func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Date(2026, 3, 1, 12, 30, 0, 123456000, time.UTC)
		return
	case *domain.Payload:
		*x = domain.Payload(`{"n":9007199254740993}`)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("exponential \"é\x01\\")
	case reflect.Int, reflect.Int64:
		v.SetInt(9007199254740993)
	case reflect.Float64:
		v.SetFloat(2.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"b": "2", "a": "1"}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
		if kind := v.FieldByName("Kind"); kind.IsValid() { // of a backoff, whose members depend on it
			kind.SetString("exponential")
			v.FieldByName("DelayMS").SetInt(0)
		}
	default:
		t.Fatalf("a member of kind %s", v.Kind())
	}
}

// Whatever is recorded is read as it was written, in canonical form, whether its optional members are there or not.
func TestEveryEventReadsAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, empty := range kinds() {
		for i, e := range []history.Event{empty, full(t, empty)} {
			data := history.EncodeEvent(e)
			var members any
			d := json.NewDecoder(bytes.NewReader(data))
			d.UseNumber()
			if err := d.Decode(&members); err != nil {
				t.Fatalf("%s: %v\n%s", e.Type(), err, data)
			}
			var canonical bytes.Buffer
			w := json.NewEncoder(&canonical)
			w.SetEscapeHTML(false)
			if err := w.Encode(members); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(canonical.String(), string(data)+"\n"); diff != "" {
				t.Errorf("%s is not canonical:\n%s", e.Type(), diff)
			}
			back, err := history.DecodeEvent(e.Type(), data)
			if err != nil {
				t.Fatal(err)
			}
			if again := history.EncodeEvent(back); !bytes.Equal(again, data) {
				t.Errorf("%s\nwritten %s\nagain   %s", e.Type(), data, again)
			}
			if i == 1 {
				if diff := cmp.Diff(e, back); diff != "" {
					t.Errorf("%s: %s", e.Type(), diff)
				}
			}
		}
	}
}

// engine 3: a type that this version does not know is refused by name.
func TestUnknownEventIsRefusedByName(t *testing.T) {
	t.Parallel()
	_, err := history.DecodeEvent("StepSkipped\n", []byte(`{}`))
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Type != "StoreFault" || !bytes.Contains([]byte(refusal.Message), []byte(`StepSkipped`)) {
		t.Errorf("%v", err)
	}
}

// Whatever bytes a store gives are an event or a typed refusal; what was read once reads the same again.
func FuzzDecodeEvent(f *testing.F) {
	for _, e := range kinds() {
		f.Add(e.Type(), history.EncodeEvent(e))
	}
	f.Add("OutcomeTaken", []byte(`{"clause":null,"visit":1e2}`))
	f.Add("ActivityScheduled", []byte(`{"retry":{"max_attempts":2,"backoff":{"kind":"fixed","delay_ms":1}}}`))
	f.Fuzz(func(t *testing.T, typ string, data []byte) {
		e, err := history.DecodeEvent(typ, data)
		if err != nil {
			var refusal *domain.Error
			if !errors.As(err, &refusal) || refusal.Code == "" || refusal.Type == "" || refusal.Message == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if e.Type() != typ {
			t.Fatalf("%s is read as %s", typ, e.Type())
		}
		if !dated(e) {
			return
		}
		written := history.EncodeEvent(e)
		back, err := history.DecodeEvent(typ, written)
		if err != nil {
			t.Fatalf("%v\nread %s\nwritten %s", err, data, written)
		}
		if again := history.EncodeEvent(back); !bytes.Equal(again, written) {
			t.Fatalf("written %s\nagain   %s", written, again)
		}
	})
}

// dated tells whether the times of an event are of years that RFC 3339 can write; an offset can lead out of them.
func dated(e history.Event) bool {
	var at time.Time
	switch e := e.(type) {
	case history.WorkflowStarted:
		at = e.Deadline
	case history.ActivityFailed:
		at = e.RetryAt
	case history.TimerStarted:
		at = e.FireAt
	}
	return at.UTC().Year() >= 0 && at.UTC().Year() <= 9999
}

// engine 3: no event is committed that could not be read again, whichever of its payloads is no JSON.
func TestAnEventWithAPayloadThatIsNoJSONIsRefused(t *testing.T) {
	t.Parallel()
	payloads := 0
	for _, empty := range kinds() {
		whole := full(t, empty)
		if err := history.Record(1, time.Time{}, "w", "r", whole).Refusal(); err != nil {
			t.Errorf("%s: %v", empty.Type(), err)
		}
		members := reflect.TypeOf(empty)
		for i := range members.NumField() {
			if members.Field(i).Type != reflect.TypeFor[domain.Payload]() {
				continue
			}
			payloads++
			for _, text := range []string{`{"stdout_bytes":***}`, "", `1,"x":2`, `{"n":1`} {
				v := reflect.New(members)
				v.Elem().Set(reflect.ValueOf(whole))
				v.Elem().Field(i).Set(reflect.ValueOf(domain.Payload(text)))
				err := history.Record(1, time.Time{}, "w", "r", v.Elem().Interface().(history.Event)).Refusal()
				name := "`" + members.Field(i).Tag.Get("json") + "` of an event " + empty.Type()
				if domain.TypeOf(err) != "PayloadNotJSON" || !strings.Contains(err.Error(), name) {
					t.Errorf("%s with %q: %v", name, text, err)
				}
			}
		}
	}
	if payloads < 10 {
		t.Errorf("%d payloads were tried", payloads)
	}
}
