package namespaces_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/memory"
	"aion/application/namespaces"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
	"aion/ports"
	"aion/test/fake"
)

var (
	operator = access.Operator("")
	clerk    = access.Caller{Subject: "clerk", Namespaces: []domain.Namespace{"acme", "default"}, Mode: "token"}
	ada      = access.Caller{Subject: "ada", Namespaces: []domain.Namespace{"acme", "default", "Bad name"}, Deploy: true, Mode: "token"}
)

type register struct {
	*namespaces.Service
	t     *testing.T
	store *fake.Store
	clock *fake.Clock
}

func open(t *testing.T, closed bool) register {
	t.Helper()
	clock := fake.NewClock(time.Time{})
	store := fake.NewStore(memory.New(clock))
	s := namespaces.New(namespaces.Deps{Store: store, Clock: clock, Default: "default", Closed: closed})
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return register{Service: s, t: t, store: store, clock: clock}
}

func (r register) names() []string {
	r.t.Helper()
	list, next, err := r.List(r.t.Context(), operator, "", 0)
	if err != nil || next != "" {
		r.t.Fatalf("%q, %v", next, err)
	}
	var names []string
	for _, n := range list {
		names = append(names, string(n.Name))
	}
	return names
}

func wantRefusal(t *testing.T, what string, err error, code domain.Code, errorType string) {
	t.Helper()
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Code != code || refusal.Type != errorType {
		t.Errorf("%s: got %v, want %s/%s", what, err, code, errorType)
	}
}

func TestOpenRegisterCreatesAtTheFirstStart(t *testing.T) {
	t.Parallel()
	r := open(t, false)
	if err := r.Enter(t.Context(), "acme"); err != nil {
		t.Errorf("an absent namespace must read as empty: %v", err)
	}
	if d := cmp.Diff([]string{"default"}, r.names()); d != "" {
		t.Error("reading creates nothing: ", d)
	}
	for range 3 {
		if err := r.Open(t.Context(), ada, "acme"); err != nil {
			t.Error(err)
		}
	}
	got, err := r.Describe(t.Context(), clerk, "acme")
	if err != nil || got.CreatedBy != "ada" || !got.CreatedAt.Equal(fake.Epoch) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestClosedRegisterRefusesWhatWasNotCreated(t *testing.T) {
	t.Parallel()
	r := open(t, true)
	ctx := t.Context()
	wantRefusal(t, "enter", r.Enter(ctx, "acme"), domain.CodeNotFound, "NamespaceNotFound")
	wantRefusal(t, "open", r.Open(ctx, ada, "acme"), domain.CodeNotFound, "NamespaceNotFound")
	if _, err := r.Create(ctx, ada, "acme", namespaces.Settings{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Enter(ctx, "acme"), r.Open(ctx, clerk, "acme"), r.Enter(ctx, "default")); err != nil {
		t.Error(err)
	}
	if err := r.Delete(ctx, ada, "acme"); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, "enter after the removal", r.Enter(ctx, "acme"), domain.CodeNotFound, "NamespaceNotFound")
}

// What another replica removed is noticed, and the store is not asked at every call.
func TestKnownNamespaceIsAskedForAgainAfterAWhile(t *testing.T) {
	t.Parallel()
	r := open(t, true)
	r.store.Script(fake.Fault{Op: "Namespace", Call: 1, When: fake.Before})
	for range 100 {
		if err := r.Enter(t.Context(), "default"); err != nil {
			t.Fatal(err)
		}
	}
	r.clock.Advance(5 * time.Second)
	wantRefusal(t, "the store is away", r.Enter(t.Context(), "default"), domain.CodeUnavailable, "StoreUnavailable")
	if err := r.store.RemoveNamespace(t.Context(), "default", nil); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, "removed elsewhere", r.Enter(t.Context(), "default"), domain.CodeNotFound, "NamespaceNotFound")
}

func TestChangesNeedTheNamespaceAndTheDeployGrant(t *testing.T) {
	t.Parallel()
	r := open(t, false)
	ctx := t.Context()
	for what, change := range map[string]func(who access.Caller, name string) error{
		"create": func(who access.Caller, name string) error {
			_, err := r.Create(ctx, who, name, namespaces.Settings{})
			return err
		},
		"update": func(who access.Caller, name string) error {
			_, err := r.Update(ctx, who, name, namespaces.Settings{})
			return err
		},
		"delete": func(who access.Caller, name string) error { return r.Delete(ctx, who, name) },
	} {
		wantRefusal(t, what+" without the grant", change(clerk, "acme"), domain.CodeDeployDenied, "DeployGrantMissing")
		wantRefusal(t, what+" elsewhere", change(ada, "other"), domain.CodeNamespaceDenied, "NamespaceNotGranted")
		wantRefusal(t, what+" of no name", change(ada, "Bad name"), domain.CodeInvalidInput, "NameInvalid")
	}
	_, err := r.Describe(ctx, ada, "other")
	wantRefusal(t, "describe elsewhere", err, domain.CodeNamespaceDenied, "NamespaceNotGranted")
	_, err = r.Describe(ctx, ada, "acme")
	wantRefusal(t, "describe what is absent", err, domain.CodeNotFound, "NamespaceNotFound")
	_, err = r.Update(ctx, ada, "acme", namespaces.Settings{})
	wantRefusal(t, "update what is absent", err, domain.CodeNotFound, "NamespaceNotFound")
	wantRefusal(t, "delete what is absent", r.Delete(ctx, ada, "acme"), domain.CodeNotFound, "NamespaceNotFound")
	wantRefusal(t, "delete the default one", r.Delete(ctx, ada, "default"), domain.CodeInvalidInput, "SchemaViolation")
	_, err = r.Create(ctx, ada, "default", namespaces.Settings{})
	wantRefusal(t, "create it again", err, domain.CodeInvalidState, "NamespaceExists")
}

func TestSettingsHaveBounds(t *testing.T) {
	t.Parallel()
	r := open(t, false)
	for what, set := range map[string]namespaces.Settings{
		"description": {Description: string(make([]byte, 1001))}, "not UTF-8": {Description: "\xff"}, "no activity": {MaxInFlight: new(0)},
		"short retention": {Retention: new(time.Minute)}, "negative retention": {Retention: new(-time.Hour)},
	} {
		_, err := r.Create(t.Context(), ada, "acme", set)
		wantRefusal(t, what, err, domain.CodeInvalidInput, "SchemaViolation")
	}
	set := namespaces.Settings{Description: "d", MaxInFlight: new(1), Retention: new(time.Duration(0))}
	got, err := r.Create(t.Context(), ada, "acme", set)
	want := ports.NamespaceRow{Name: "acme", Description: "d", MaxInFlight: new(1), Retention: new(time.Duration(0)), CreatedAt: fake.Epoch, CreatedBy: "ada"}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	got, err = r.Update(t.Context(), ada, "acme", namespaces.Settings{Retention: new(time.Hour)})
	want.Description, want.MaxInFlight, want.Retention = "", nil, new(time.Hour)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestListShowsGrantedNamespacesPageByPage(t *testing.T) {
	t.Parallel()
	r := open(t, false)
	granted := access.Caller{Subject: "ada"}
	var want []string
	for n := range 500 {
		name := domain.Namespace(fmt.Sprintf("n%04d", n))
		if err := r.Open(t.Context(), operator, name); err != nil {
			t.Fatal(err)
		}
		if n%7 == 0 {
			granted.Namespaces = append(granted.Namespaces, name)
			want = append(want, string(name))
		}
	}
	var got []string
	for after := ""; ; {
		page, next, err := r.List(t.Context(), granted, after, 9)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range page {
			got = append(got, string(n.Name))
		}
		if next == "" {
			break
		}
		after = string(next)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if page, next, err := r.List(t.Context(), access.Caller{}, "", 0); len(page) > 0 || next != "" || err != nil {
		t.Errorf("%v, %q, %v", page, next, err)
	}
	if page, _, err := r.List(t.Context(), operator, "", 1_000); len(page) != 500 || err != nil {
		t.Errorf("%d, %v", len(page), err)
	}
}

func TestNamespaceThatHoldsRunsStays(t *testing.T) {
	t.Parallel()
	r := open(t, false)
	if err := r.Open(t.Context(), ada, "acme"); err != nil {
		t.Fatal(err)
	}
	id, run := domain.WorkflowID(fake.UUID(1)), domain.RunID(fake.UUID(2))
	for _, err := range r.store.Append(t.Context(), []history.Commit{{
		Namespace: "acme", WorkflowID: id, Events: []history.Recorded{history.Record(1, fake.Epoch, id, run, history.StepEntered{Step: "s", Visit: 1})},
		Rows: []history.RunRow{{Namespace: "acme", WorkflowID: id, RunID: run, Generation: 1, WorkflowType: "w", Status: history.Running, StartedAt: fake.Epoch, FirstSeq: 1}},
	}}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	wantRefusal(t, "delete", r.Delete(t.Context(), ada, "acme"), domain.CodeInvalidState, "NamespaceNotEmpty")
	if err := r.Enter(t.Context(), "acme"); err != nil {
		t.Error(err)
	}
}

// engine 10: the bound of a namespace holds from its setting on, and after a restart.
func TestBoundOfActivitiesIsTold(t *testing.T) {
	t.Parallel()
	r := open(t, false)
	told := 0
	r.Bounded = func() { told++ }
	want := func(what string, s *namespaces.Service, most int) {
		t.Helper()
		if got := s.InFlight("acme"); got != most {
			t.Errorf("%s: %d, want %d", what, got, most)
		}
	}
	want("absent", r.Service, 0)
	if _, err := r.Create(t.Context(), ada, "acme", namespaces.Settings{MaxInFlight: new(3)}); err != nil {
		t.Fatal(err)
	}
	want("created", r.Service, 3)
	if _, err := r.Update(t.Context(), ada, "acme", namespaces.Settings{MaxInFlight: new(5)}); err != nil {
		t.Fatal(err)
	}
	want("updated", r.Service, 5)
	again := namespaces.New(namespaces.Deps{Store: r.store, Clock: r.clock, Default: "default"})
	if err := again.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	want("after a restart", again, 5)
	if _, err := r.Update(t.Context(), ada, "acme", namespaces.Settings{}); err != nil {
		t.Fatal(err)
	}
	want("taken back", r.Service, 0)
	if _, err := r.Update(t.Context(), ada, "acme", namespaces.Settings{MaxInFlight: new(1)}); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), ada, "acme"); err != nil {
		t.Fatal(err)
	}
	want("removed", r.Service, 0)
	if told != 5 {
		t.Errorf("told %d times", told)
	}
}

// engine 8: a bound that another server has set holds here within seconds, and one that it has taken back does not.
func TestBoundsOfAnotherServerAreTakenOver(t *testing.T) {
	t.Parallel()
	r := open(t, false)
	other := namespaces.New(namespaces.Deps{Store: r.store, Clock: r.clock, Default: "default"})
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() { _ = r.Run(ctx) })
	defer wait.Wait()
	defer cancel()
	pass := func() { // two rounds, so that the first reading is over
		for range 2 {
			<-r.clock.Asked()
			r.clock.Advance(5 * time.Second)
		}
		<-r.clock.Asked()
	}
	if _, err := other.Create(t.Context(), ada, "acme", namespaces.Settings{MaxInFlight: new(3)}); err != nil {
		t.Fatal(err)
	}
	pass()
	if n := r.InFlight("acme"); n != 3 {
		t.Errorf("%d", n)
	}
	if err := other.Delete(t.Context(), ada, "acme"); err != nil {
		t.Fatal(err)
	}
	r.clock.Advance(5 * time.Second)
	pass()
	if n := r.InFlight("acme"); n != 0 {
		t.Errorf("%d", n)
	}
}
