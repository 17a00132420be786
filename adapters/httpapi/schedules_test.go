package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

const schedulesOf = "/api/v1/namespaces/default/schedules"

// untilRight asks again until the answer is right.
func (w *world) untilRight(path string, right func(reply) bool) reply {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		r := w.get(path).ok(http.StatusOK)
		if right(r) {
			return r
		}
		if time.Now().After(end) {
			w.t.Fatalf("%s: %.2000s", path, r.body)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// server 1.2, 1.8, 1.10: each route with success and with its own refusals.
func TestScheduleComesChangesAndGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(holding)
	one := schedulesOf + "/nightly"
	const body = `{"schedule_id":"nightly","workflow_type":"holding","input":{},"spec":"0 3 * * *","time_zone":"Europe/Berlin"}`
	put := func(spec string, headers ...string) reply {
		return w.do(http.MethodPut, one, `{"workflow_type":"holding","input":{},"spec":"`+spec+`"}`, headers...)
	}
	put("@daily", "If-Match", "*").refused(http.StatusNotFound, "not_found", "ScheduleNotFound")
	put("@daily").refused(http.StatusNotFound, "not_found", "ScheduleNotFound")
	w.get(one).refused(http.StatusNotFound, "not_found", "ScheduleNotFound")
	w.get(schedulesOf+"/NO").refused(http.StatusNotFound, "not_found", "ScheduleNotFound")
	for _, act := range []string{"/pause", "/resume", "/trigger"} {
		w.post(one+act, `{}`).refused(http.StatusNotFound, "not_found", "ScheduleNotFound")
	}
	w.get(one+"/fires").refused(http.StatusNotFound, "not_found", "ScheduleNotFound")
	w.do(http.MethodDelete, one, "").refused(http.StatusNotFound, "not_found", "ScheduleNotFound")

	for _, bad := range [][3]string{
		{`"spec":"0 3 * * *"`, `"spec":"0 3 30 2 *"`, "ScheduleSpecInvalid"},
		{`Europe/Berlin`, `Europe/Atlantis`, "ScheduleSpecInvalid"},
		{`"nightly"`, `"Nightly"`, "NameInvalid"},
		{`"input":{}`, `"input":7`, "InputRejected"},
		{`"input":{}`, `"overlap":"no"`, "SchemaViolation"},
		{`"input":{}`, `"catch_up_ms":-1`, "SchemaViolation"},
		{`"input":{}`, `"paused":"yes"`, "SchemaViolation"},
		{`"input":{}`, `"cron":"x"`, "UnknownMember"},
	} {
		w.post(schedulesOf, strings.Replace(body, bad[0], bad[1], 1)).refused(http.StatusBadRequest, "invalid_input", bad[2])
	}
	w.post(schedulesOf, strings.Replace(body, `"holding"`, `"none"`, 1)).refused(http.StatusNotFound, "not_found", "WorkflowTypeNotFound")

	first := w.post(schedulesOf, body, "Idempotency-Key", "k").ok(http.StatusCreated)
	again := w.post(schedulesOf, body, "Idempotency-Key", "k").ok(http.StatusCreated)
	if again.header.Get("Idempotency-Replayed") != "true" || string(again.body) != string(first.body) {
		t.Errorf("%v %s", again.header, again.body)
	}
	w.post(schedulesOf, strings.Replace(body, "0 3", "0 4", 1), "Idempotency-Key", "k").refused(http.StatusConflict, "idempotency_conflict", "IdempotencyConflict")
	w.post(schedulesOf, body).refused(http.StatusConflict, "invalid_state", "ScheduleExists")
	w.post(schedulesOf, strings.Replace(body, "0 3 *", "0 3 30", 1)).refused(http.StatusConflict, "invalid_state", "ScheduleExists") // before the value

	put("@daily").refused(http.StatusPreconditionRequired, "invalid_input", "PreconditionRequired")
	put("@daily", "If-Match", `"7"`).refused(http.StatusPreconditionFailed, "invalid_input", "RevisionMismatch")
	put("@daily", "If-None-Match", "*").refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	put("0 0 31 2 *", "If-Match", `"1"`).refused(http.StatusBadRequest, "invalid_input", "ScheduleSpecInvalid")
	if changed := put("@daily", "If-Match", `"1"`).ok(http.StatusOK); changed.header.Get("ETag") != `"2"` || changed.text("time_zone") != "UTC" {
		t.Errorf("%v %s", changed.header, changed.body)
	}
	w.get(one, "If-None-Match", `"2"`).ok(http.StatusNotModified)
	w.do(http.MethodPut, one, body+" ", "If-Match", "*").ok(http.StatusOK)
	w.do(http.MethodPut, one, strings.Replace(body, `"nightly"`, `"other"`, 1), "If-Match", "*").refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")

	if paused := w.post(one+"/pause", `{"reason":"a holiday"}`).ok(http.StatusOK).object()["paused"].(map[string]any); paused["reason"] != "a holiday" || paused["by"] != "operator" {
		t.Errorf("%v", paused)
	}
	if listed := w.get(schedulesOf + "?paused=true&workflow_type=holding").ok(http.StatusOK).object()["schedules"].([]any); len(listed) != 1 {
		t.Errorf("%v", listed)
	}
	if listed := w.get(schedulesOf + "?paused=false").ok(http.StatusOK).object()["schedules"].([]any); len(listed) != 0 {
		t.Errorf("%v", listed)
	}
	w.post(one+"/resume", "").ok(http.StatusOK)
	started := w.post(one+"/trigger", "", "Idempotency-Key", "t").ok(http.StatusCreated)
	if twice := w.post(one+"/trigger", "", "Idempotency-Key", "t").ok(http.StatusCreated); twice.text("workflow_id") != started.text("workflow_id") ||
		twice.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%s", twice.body)
	}
	w.post(one+"/trigger", `{}`).refused(http.StatusConflict, "invalid_state", "ScheduleOverlap")
	w.post(one+"/trigger", `{"overlap":"some"}`).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	w.post(one+"/backfill", `{"from":"2026-07-01T00:00:00Z","to":"2026-06-01T00:00:00Z","limit":5}`).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	w.post(one+"/backfill", `{"from":"yesterday","to":"2026-06-01T00:00:00Z","limit":5}`).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	if planned := w.post(one+"/backfill", `{"from":"2020-06-01T00:00:00Z","to":"2020-06-30T00:00:00Z","limit":5}`).ok(http.StatusAccepted).object(); planned["planned"].(interface{ String() string }).String() != "5" {
		t.Errorf("%v", planned)
	}
	w.untilRight(one, func(r reply) bool {
		return len(r.object()["last_fires"].([]any)) == 6 && len(r.object()["running"].([]any)) == 6
	})
	page := w.get(one + "/fires?limit=4").ok(http.StatusOK).object()
	if rest := w.get(one + "/fires?limit=4&cursor=" + page["next_cursor"].(string)).ok(http.StatusOK).object(); len(rest["fires"].([]any)) != 2 || rest["next_cursor"] != nil {
		t.Errorf("%v", rest)
	}
	w.get(one+"/fires?cursor=x").refused(http.StatusBadRequest, "invalid_input", "CursorInvalid")

	w.do(http.MethodDelete, one, "", "If-Match", `"1"`).refused(http.StatusPreconditionFailed, "invalid_input", "RevisionMismatch")
	w.do(http.MethodDelete, one, "").ok(http.StatusNoContent)
	w.get(one).refused(http.StatusNotFound, "not_found", "ScheduleNotFound")
}

func TestScheduleChangesAreForCallersOfTheNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withToken)
	w.post("/api/v1/deployments", encode(t, map[string]string{"source": holding}), as("root", "*", true)...).ok(http.StatusCreated)
	const body = `{"schedule_id":"s","workflow_type":"holding","input":{},"spec":"@yearly"}`
	ada, eve := as("ada", "n1", false), as("eve", "n2", false)
	at := "/api/v1/namespaces/n1/schedules"
	w.post(at, body, ada...).ok(http.StatusCreated)
	w.post(at, body, eve...).refused(http.StatusForbidden, "namespace_denied", "NamespaceNotGranted")
	w.post("/api/v1/namespaces/n1/schedule-preview", `{"spec":"@daily","count":1}`, eve...).refused(http.StatusForbidden, "namespace_denied", "NamespaceNotGranted")
	for _, path := range []string{"", "/s", "/s/fires"} {
		w.get(at+path, eve...).refused(http.StatusForbidden, "namespace_denied", "NamespaceNotGranted")
	}
	for _, act := range []string{"pause", "resume", "trigger"} {
		w.post(at+"/s/"+act, `{}`, eve...).refused(http.StatusForbidden, "namespace_denied", "NamespaceNotGranted")
		w.post(at+"/s/"+act, `{}`, ada...)
	}
	w.do(http.MethodDelete, at+"/s", "", eve...).refused(http.StatusForbidden, "namespace_denied", "NamespaceNotGranted")
	w.do(http.MethodDelete, at+"/s", "", ada...).ok(http.StatusNoContent)
	told := string(w.get("/api/v1/audit?namespace=n1", as("root", "*", true)...).ok(http.StatusOK).body)
	for _, action := range []string{"create", "pause", "resume", "trigger", "delete"} {
		if !strings.Contains(told, `"schedule.`+action+`"`) {
			t.Errorf("no record of %s in %s", action, told)
		}
	}
	if !strings.Contains(told, `"surface":"schedule"`) {
		t.Errorf("%s", told)
	}
}

func TestSchedulePreview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const at = "/api/v1/namespaces/default/schedule-preview"
	m := w.post(at, `{"spec":"30 2 * * *","time_zone":"Europe/Berlin","after":"2026-03-28T12:00:00+01:00","count":2}`).ok(http.StatusOK).object()
	times := m["times"].([]any)
	if len(times) != 2 || times[0] != "2026-03-29T01:00:00.000000Z" || len(m["notes"].([]any)) != 1 {
		t.Errorf("%v", m)
	}
	w.post(at, `{"spec":"never","count":2}`).refused(http.StatusBadRequest, "invalid_input", "ScheduleSpecInvalid")
	w.post(at, `{"spec":"@daily","count":101}`).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	w.post(at, `{"spec":"@daily","time_zone":"","count":1}`).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
}

func TestScheduleFiresAndItsRunsNameIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy(holding)
	made := w.post(schedulesOf, `{"schedule_id":"tick","workflow_type":"holding","input":{},"spec":"every 1s","overlap":"allow","labels":{"a":"b"}}`).ok(http.StatusCreated)
	if made.header.Get("ETag") != `"1"` || made.header.Get("Location") != schedulesOf+"/tick" || len(made.object()["next_times"].([]any)) != 5 {
		t.Errorf("%v %s", made.header, made.body)
	}
	fired := w.untilRight(schedulesOf+"/tick/fires", func(r reply) bool { return strings.Count(string(r.body), `"fired"`) >= 2 })
	seen := map[any]bool{}
	for _, f := range fired.object()["fires"].([]any) {
		f := f.(map[string]any)
		if seen[f["workflow_id"]] || f["workflow_id"] == nil || f["action"] != "fired" {
			t.Errorf("%s", fired.body)
		}
		seen[f["workflow_id"]] = true
		run := w.get(runsOf + "/" + f["workflow_id"].(string)).ok(http.StatusOK).object()
		if run["schedule_id"] != "tick" || run["started_by"] != "schedule:tick" || run["run_id"] != f["run_id"] {
			t.Errorf("%v", run)
		}
	}
	listed := w.get(runsOf + "?schedule_id=tick").ok(http.StatusOK).object()["runs"].([]any)
	if len(listed) < 2 || listed[0].(map[string]any)["schedule_id"] != "tick" {
		t.Errorf("%v", listed)
	}
	if none := w.get(runsOf + "?schedule_id=tack").ok(http.StatusOK).object()["runs"].([]any); len(none) != 0 {
		t.Errorf("%v", none)
	}
}
