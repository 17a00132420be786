package conformance

import (
	"fmt"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// Namespaces is the register with the histories that hold a namespace.
type Namespaces interface {
	ports.NamespaceStore
	ports.EventStore
	ports.ScheduleStore
}

// NamespaceStore runs the suite of ports.NamespaceStore.
func NamespaceStore(t *testing.T, open func(testing.TB) Namespaces) {
	run(t, open, map[string]func(*testing.T, Namespaces){
		"what was never registered is not found":           noNamespace,
		"a namespace comes back whole":                     namespaceReturns,
		"registering a name again keeps the first":         sameNamespaceAgain,
		"settings are replaced, the origin stays":          namespaceChanges,
		"namespaces are listed by name, page by page":      namespaceLists,
		"a namespace that holds a schedule is not removed": namespaceWithSchedule,
		"a namespace that holds runs is not removed":       namespaceRemoval,
		"20 parallel registrations of one name: one added": oneAdded,
	})
}

func tenant(name string) ports.NamespaceRow {
	return ports.NamespaceRow{
		Name: domain.Namespace(name), Description: "for é\x00 and <b>", MaxInFlight: new(7), Retention: new(36*time.Hour + time.Microsecond),
		CreatedAt: start, CreatedBy: "ada",
	}
}

func register(t *testing.T, s Namespaces, n ports.NamespaceRow) {
	t.Helper()
	if _, added, err := s.AddNamespace(t.Context(), n); err != nil || !added {
		t.Fatalf("register %s: added %v, %v", n.Name, added, err)
	}
}

func noNamespace(t *testing.T, s Namespaces) {
	_, err := s.Namespace(t.Context(), "acme")
	wantCode(t, err, domain.CodeNotFound, "NamespaceNotFound")
	_, err = s.ChangeNamespace(t.Context(), tenant("acme"))
	wantCode(t, err, domain.CodeNotFound, "NamespaceNotFound")
	wantCode(t, s.RemoveNamespace(t.Context(), "acme", nil), domain.CodeNotFound, "NamespaceNotFound")
	all, err := s.Namespaces(t.Context(), "", 10)
	same(t, "all", must(t, all, err), []ports.NamespaceRow(nil))
}

func namespaceReturns(t *testing.T, s Namespaces) {
	full, bare := tenant("acme"), ports.NamespaceRow{Name: "a.b_c-1", CreatedAt: start}
	zero := ports.NamespaceRow{Name: "zero", MaxInFlight: new(0), Retention: new(time.Duration(0)), CreatedAt: start}
	for _, n := range []ports.NamespaceRow{full, bare, zero} {
		stored, added, err := s.AddNamespace(t.Context(), n)
		same(t, "the answer", must(t, stored, err), n)
		same(t, "added", added, true)
		got, err := s.Namespace(t.Context(), n.Name)
		same(t, "by name", must(t, got, err), n)
	}
}

func sameNamespaceAgain(t *testing.T, s Namespaces) {
	register(t, s, tenant("acme"))
	other := ports.NamespaceRow{Name: "acme", Description: "another", CreatedAt: start.Add(time.Hour), CreatedBy: "bob"}
	stored, added, err := s.AddNamespace(t.Context(), other)
	same(t, "the answer", must(t, stored, err), tenant("acme"))
	same(t, "added", added, false)
	got, err := s.Namespace(t.Context(), "acme")
	same(t, "by name", must(t, got, err), tenant("acme"))
}

func namespaceChanges(t *testing.T, s Namespaces) {
	register(t, s, tenant("acme"))
	register(t, s, tenant("other"))
	stored, err := s.ChangeNamespace(t.Context(), ports.NamespaceRow{Name: "acme", CreatedBy: "bob", CreatedAt: start.Add(time.Hour)})
	want := ports.NamespaceRow{Name: "acme", CreatedAt: start, CreatedBy: "ada"}
	same(t, "the answer", must(t, stored, err), want)
	got, err := s.Namespace(t.Context(), "acme")
	same(t, "by name", must(t, got, err), want)
	got, err = s.Namespace(t.Context(), "other")
	same(t, "the other", must(t, got, err), tenant("other"))
}

func namespaceLists(t *testing.T, s Namespaces) {
	names := []string{"-0", "0", "a", "a-b", "a.b", "aa", "b"}
	var all []ports.NamespaceRow
	for i := range names {
		register(t, s, tenant(names[(i*3)%len(names)]))
		all = append(all, tenant(names[i]))
	}
	got, err := s.Namespaces(t.Context(), "", 100)
	same(t, "all", must(t, got, err), all)
	var paged []ports.NamespaceRow
	for after := domain.Namespace(""); ; {
		page, err := s.Namespaces(t.Context(), after, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		paged = append(paged, page...)
		after = page[len(page)-1].Name
	}
	same(t, "page by page", paged, all)
	none, err := s.Namespaces(t.Context(), "", 0)
	same(t, "at most none", must(t, none, err), []ports.NamespaceRow(nil))
}

func namespaceRemoval(t *testing.T, s Namespaces) {
	register(t, s, tenant(string(namespace)))
	register(t, s, tenant("empty"))
	f := newFlow(1)
	mustAppend(t, s, f.started())
	done := f.next(step(1))
	done.Rows = []history.RunRow{f.row(history.Completed)}
	mustAppend(t, s, done)
	wantCode(t, s.RemoveNamespace(t.Context(), namespace, nil), domain.CodeInvalidState, "NamespaceNotEmpty")
	if err := s.RemoveNamespace(t.Context(), "empty", nil); err != nil {
		t.Fatal(err)
	}
	_, err := s.Namespace(t.Context(), "empty")
	wantCode(t, err, domain.CodeNotFound, "NamespaceNotFound")
	register(t, s, tenant("empty"))
}

func namespaceWithSchedule(t *testing.T, s Namespaces) {
	register(t, s, tenant("acme"))
	v := nightly(1)
	v.Namespace = "acme"
	if _, _, err := s.CreateSchedule(t.Context(), v, time.Time{}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.RemoveNamespace(t.Context(), "acme", nil), domain.CodeInvalidState, "NamespaceNotEmpty")
	if err := s.DeleteSchedule(t.Context(), v.Ref(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveNamespace(t.Context(), "acme", nil); err != nil {
		t.Fatal(err)
	}
}

func oneAdded(t *testing.T, s Namespaces) {
	added := make([]bool, 20)
	for _, err := range together(len(added), func(n int) error {
		row := tenant("acme")
		row.CreatedBy = fmt.Sprint("caller ", n)
		_, a, err := s.AddNamespace(t.Context(), row)
		added[n] = a
		return err
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	count := 0
	for _, a := range added {
		if a {
			count++
		}
	}
	same(t, "added answers", count, 1)
}
