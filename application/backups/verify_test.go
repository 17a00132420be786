package backups_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"aion/adapters/gormstore"
	"aion/adapters/system"
	"aion/adapters/workspace"
	"aion/application/authoring"
	"aion/application/backups"
	"aion/application/runs"
	"aion/bootstrap"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/action"
	"aion/ports"
)

const source = `//! Greet one name, and wait for a word.
workflow hello
  input name: String
  outcome greeted: type Greeting, route success

type Greeting { text: String }

worker shell
  action greet(name: String) -> String
    timeout 10s
    run "echo Hello, {{name}}" capture text

step say
  greet(name: name) -> text
  route greeted(text: text)
`

type instant struct{}

func (instant) Execute(_ context.Context, e ports.Execution, _ ports.TranscriptWriter) action.Verdict {
	return action.Completed{Result: json.RawMessage(`"Hello"`)}
}

// ran gives the path of a store in which two workflows have ended.
func ran(t *testing.T) (path string) {
	t.Helper()
	c, err := bootstrap.Defaults(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	app, err := bootstrap.New(t.Context(), c, bootstrap.Parts{Executor: instant{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	who := access.Operator("")
	if _, err := app.Authoring.DeploySource(t.Context(), who, authoring.SourceRequest{Name: "hello.awl", Source: []byte(source)}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Ada", "Bob"} {
		started, err := app.Runs.Start(t.Context(), who, runs.StartRequest{
			Namespace: "default", WorkflowType: "hello", Input: domain.Payload(fmt.Sprintf(`{"name":%q}`, name)), Labels: map[string]string{"of": name},
		})
		if err != nil {
			t.Fatal(err)
		}
		ref := runs.Ref{Namespace: "default", WorkflowID: string(started.Run.WorkflowID)}
		if sum, err := app.Runs.Outcome(t.Context(), who, ref, 20*time.Second); err != nil || sum.Status != "Completed" {
			t.Fatal(sum, err)
		}
	}
	if err := app.Close(context.WithoutCancel(t.Context()), 0); err != nil {
		t.Fatal(err)
	}
	return c.StorePath
}

// verified verifies a store after a hand has run a statement in it.
func verified(t *testing.T, path, statement string, heads []domain.AuditHead) (backups.Report, error) {
	t.Helper()
	if statement != "" {
		db, err := sql.Open("sqlite3", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := gormstore.Open(t.Context(), gormstore.Options{Path: path, Clock: system.Clock{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	files, err := workspace.New(filepath.Join(filepath.Dir(path), "authoring"))
	if err != nil {
		t.Fatal(err)
	}
	return backups.Verify(t.Context(), s, files, heads)
}

// copied copies a store that nobody has open.
func copied(t *testing.T, path string) string {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "private", "aion.db")
	if err := errors.Join(os.Mkdir(filepath.Dir(to), 0o700), os.WriteFile(to, body, 0o600)); err != nil {
		t.Fatal(err)
	}
	return to
}

// server 45, server 47, engine 2: what was changed, removed or swapped in a store is found, and the first fault is named.
func TestVerifyFindsWhatDoesNotHold(t *testing.T) {
	t.Parallel()
	path := ran(t)
	sound, err := verified(t, path, "", nil)
	if err != nil || sound.Workflows != 2 || sound.Runs != 2 || sound.Events < 10 || sound.Unreplayed != 0 || sound.Deployments != 1 || sound.Audit < 5 || sound.Chains != 1 {
		t.Fatalf("%+v, %v", sound, err)
	}
	const one = `workflow_id = (SELECT min(id) FROM workflows)`
	for name, c := range map[string]struct{ statement, names string }{
		"an event that is gone":           {`DELETE FROM events WHERE seq = 3 AND ` + one, "event 4 where 3 is due"},
		"the last event is gone":          {`DELETE FROM events WHERE ` + one + ` AND seq = (SELECT max(seq) FROM events WHERE ` + one + `)`, "its head is"},
		"a derived event says another":    {`UPDATE events SET data = CAST(replace(data, '"say"', '"saz"') AS BLOB) WHERE type = 'StepEntered'`, "event 3"},
		"a result says another":           {`UPDATE events SET data = CAST(replace(data, '"Hello"', '"Hallo"') AS BLOB) WHERE type = 'ActivityCompleted'`, "of workflow"},
		"two events are swapped":          {`UPDATE events SET seq = -seq WHERE seq IN (2, 3) AND ` + one + `; UPDATE events SET seq = 5 + seq WHERE seq < 0`, "event 2"},
		"an event of no known kind":       {`UPDATE events SET type = 'Odd' WHERE seq = 2`, "event 2"},
		"an event that is no JSON":        {`UPDATE events SET data = x'7b' WHERE seq = 2`, "event 2"},
		"a second terminal":               {`INSERT INTO events SELECT workflow_id, seq + 1, run_id, type, recorded_at, data FROM events WHERE type = 'WorkflowCompleted' AND ` + one + `; UPDATE workflows SET head_seq = head_seq + 1`, "the run ended with event"},
		"a status that no event gave":     {`UPDATE runs SET status = 'Failed' WHERE ` + one, "(Failed)"},
		"a label that nobody gave":        {`UPDATE runs SET labels = CAST('{"of":"Eve"}' AS BLOB) WHERE ` + one, "differs in another member"},
		"a workflow without its run":      {`DELETE FROM runs WHERE ` + one, "has no run"},
		"a status of the workflow":        {`UPDATE workflows SET status = 'Running'`, "the store names"},
		"a head that is another":          {`UPDATE workflows SET head_seq = 2`, "its head is 2"},
		"a source that is another":        {`UPDATE deployments SET source = x'77'`, "has the hash"},
		"a plan that cannot be read":      {`UPDATE deployments SET plan = x'7b7d'`, "version"},
		"an audit record that is another": {`UPDATE audit_log SET subject = 'eve' WHERE n = 2`, "record 2"},
		"an audit record that is gone":    {`DELETE FROM audit_log WHERE n = 3`, "record 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := verified(t, copied(t, path), c.statement, nil)
			if err == nil || !strings.Contains(err.Error(), c.names) {
				t.Errorf("%v, want %q", err, c.names)
			}
		})
	}
	lacks := []domain.AuditHead{{Chain: "c", N: 1, Hash: "h"}}
	if _, err := verified(t, copied(t, path), "", lacks); err == nil || !strings.Contains(err.Error(), `chain "c"`) {
		t.Errorf("a head that is not there: %v", err)
	}
	// What an unloaded version has derived is not derived again, and it is said.
	got, err := verified(t, copied(t, path), `DELETE FROM routes; DELETE FROM deployments`, nil)
	if err != nil || got.Unreplayed != 2 || got.SHA256 == sound.SHA256 {
		t.Errorf("%+v, %v", got, err)
	}
}
