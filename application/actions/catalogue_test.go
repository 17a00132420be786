package actions_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"aion/adapters/memory"
	"aion/application/actions"
	"aion/application/deployments"
	"aion/domain"
	"aion/domain/action"
	"aion/domain/deployment"
	"aion/domain/history"
	"aion/test/fake"
)

// shelf is a catalogue over deployed plans, and a double for the records of runs.
type shelf struct {
	*deployments.Service
	broken error // of every version
	runs   map[domain.WorkflowID][]history.RunRow
	lost   error // of every record
	asked  []domain.WorkflowID
}

func (s *shelf) Contract(ctx context.Context, contentHash string) (*deployment.Contract, error) {
	if s.broken != nil {
		return nil, s.broken
	}
	return s.Service.Contract(ctx, contentHash)
}

func (s *shelf) Runs(_ context.Context, id domain.WorkflowID) ([]history.RunRow, error) {
	s.asked = append(s.asked, id)
	return s.runs[id], s.lost
}

func newShelf(t *testing.T, commands ...string) (*shelf, *actions.Catalogue, *fake.Log) {
	t.Helper()
	store := memory.New(realtime{})
	s := &shelf{Service: deployments.New(deployments.Deps{Store: store, Index: store, Clock: realtime{}})}
	w := &world{t: t, catalogue: s.Service}
	for _, c := range commands {
		w.deploy(one("w", c))
	}
	log := &fake.Log{}
	c := actions.NewCatalogue(slog.New(slog.NewTextHandler(log, nil)))
	return s, c, log
}

var key = domain.AttemptKey{WorkflowID: "01900000-0000-7000-8000-000000000001", RunID: "01900000-0000-7000-8000-000000000002", Attempt: 1}

func ask(version string) actions.Question {
	return actions.Question{TaskQueue: "shell", Name: "work", Key: key, Version: version}
}

func told(a actions.Answer) string {
	switch l := a.Lookup.(type) {
	case action.Declared:
		return "declared " + l.Body.Run.Command
	case action.Ambiguous:
		return "ambiguous"
	case action.Unreadable:
		return "unreadable " + l.Reason
	case action.NoBody:
		return "none"
	}
	return "nothing"
}

// actions 16: the run's own version decides alone.
func TestAKnownVersionDecidesAlone(t *testing.T) {
	t.Parallel()
	s, c, log := newShelf(t, "echo a", "echo b", "")
	c.Install(s, s)
	for version, want := range map[string]string{
		one("w", "echo a").ContentHash: "declared echo a", one("w", "echo b").ContentHash: "declared echo b",
		one("w", "").ContentHash: "none", hash("not retained"): "none",
	} {
		if got := told(c.Lookup(t.Context(), ask(version))); got != want {
			t.Errorf("%s: %s", version, got)
		}
	}
	q := ask(one("w", "echo a").ContentHash)
	q.TaskQueue = "other"
	if got := told(c.Lookup(t.Context(), q)); got != "none" {
		t.Errorf("another queue: %s", got)
	}
	if len(s.asked) != 0 || log.String() != "" {
		t.Errorf("asked %v, log %s", s.asked, log)
	}
}

// actions 15, 16: without a version the run's record is asked, with the run's own ids; without a record all retained
// versions decide together.
func TestAnUnknownVersionGroupsByBody(t *testing.T) {
	t.Parallel()
	a := one("w", "echo a")
	for name, c := range map[string]struct {
		commands []string
		runs     map[domain.WorkflowID][]history.RunRow
		lost     error
		want     string
	}{
		"recorded":      {[]string{"echo a", "echo b"}, map[domain.WorkflowID][]history.RunRow{key.WorkflowID: {{RunID: "x"}, {RunID: key.RunID, PackageVersion: a.ContentHash}}}, nil, "declared echo a"},
		"no such run":   {[]string{"echo a", "echo b"}, nil, nil, "ambiguous"},
		"unreadable":    {[]string{"echo a", "echo b"}, nil, errors.New("away"), "ambiguous"},
		"one body":      {[]string{"echo a", ""}, nil, nil, "declared echo a"},
		"none declared": {[]string{""}, nil, nil, "none"},
		"none deployed": {nil, nil, nil, "none"},
	} {
		s, catalogue, log := newShelf(t, c.commands...)
		s.runs, s.lost = c.runs, c.lost
		catalogue.Install(s, s)
		answer := catalogue.Lookup(t.Context(), ask(""))
		if got := told(answer); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if _, declared := answer.Lookup.(action.Declared); declared != (answer.Contract != nil) {
			t.Errorf("%s: contract %v", name, answer.Contract)
		}
		if len(s.asked) != 1 || s.asked[0] != key.WorkflowID {
			t.Errorf("%s: asked %v", name, s.asked)
		}
		if logged := strings.Contains(log.String(), "level=ERROR"); logged != (c.runs == nil) {
			t.Errorf("%s: log %s", name, log)
		}
	}
}

// actions 6, 7: superseded versions are named by the command that removes them.
func TestAnAmbiguousAnswerKnowsWhichVersionIsRouted(t *testing.T) {
	t.Parallel()
	s, c, _ := newShelf(t, "echo a", "echo b")
	c.Install(s, s)
	found, ok := c.Lookup(t.Context(), ask("")).Lookup.(action.Ambiguous)
	if !ok || len(found.Versions) != 2 {
		t.Fatalf("%+v", found)
	}
	text := action.AmbiguousBody("work", "shell", found).Error()
	if !strings.HasPrefix(text, "terminal:") || !strings.Contains(text, "`aion unload w "+one("w", "echo a").ContentHash+"`") ||
		strings.Contains(text, "unload w "+one("w", "echo b").ContentHash) {
		t.Error(text)
	}
}

// actions 13: an ERROR line names action, queue and reason, once until the catalogue can be read again.
func TestAnUnreadableVersionIsLoggedOnce(t *testing.T) {
	t.Parallel()
	s, c, log := newShelf(t, "echo a")
	c.Install(s, s)
	s.broken = &domain.Error{Code: domain.CodeUnavailable, Type: "StoreAway", Message: "the store is away"}
	version := one("w", "echo a").ContentHash
	for range 3 {
		if got := told(c.Lookup(t.Context(), ask(version))); !strings.HasPrefix(got, "unreadable") {
			t.Error(got)
		}
	}
	if got := log.String(); strings.Count(got, "level=ERROR") != 1 || !strings.Contains(got, "action=work") || !strings.Contains(got, "task_queue=shell") ||
		!strings.Contains(got, "the store is away") {
		t.Error(got)
	}
	s.broken = nil
	if got := told(c.Lookup(t.Context(), ask(version))); got != "declared echo a" {
		t.Error(got)
	}
}

// actions 15
func TestACatalogueIsInstalledOnce(t *testing.T) {
	t.Parallel()
	first, c, log := newShelf(t, "echo a")
	second, _, _ := newShelf(t, "echo b")
	version := one("w", "echo a").ContentHash
	if got := told(c.Lookup(t.Context(), ask(version))); got != "none" {
		t.Errorf("before: %s", got)
	}
	if got := log.String(); strings.Count(got, "level=ERROR") != 1 || !strings.Contains(got, string(key.WorkflowID)) || !strings.Contains(got, string(key.RunID)) {
		t.Error(got)
	}
	c.Install(first, first)
	c.Install(second, second)
	if got := told(c.Lookup(t.Context(), ask(version))); got != "declared echo a" {
		t.Errorf("after: %s", got)
	}
	if strings.Count(log.String(), "level=WARN") != 1 {
		t.Error(log)
	}
}
