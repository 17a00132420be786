package authoring_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"aion/adapters/memory"
	"aion/application/authoring"
	"aion/application/deployments"
	"aion/domain"
	"aion/domain/access"
	"aion/test/fake"
)

const hello = `//! Greet one name.
workflow hello
  input name: String
  outcome greeted: type Output, route success

type Output { stdout: String, stderr: String, exit_code: Int }

worker shell
  action greet(name: String) -> Output
    run "echo hello {{name}}"

step say
  name |> greet |> route greeted
`

var operator = access.Operator("")

type room struct {
	*authoring.Service
	documents *memory.Documents
	catalogue *deployments.Service
}

func newRoom() room {
	clock := fake.NewClock(time.Time{})
	store, documents := memory.New(clock), memory.NewDocuments(clock)
	catalogue := deployments.New(deployments.Deps{Store: store, Index: store, Clock: clock})
	return room{authoring.New(authoring.Deps{Documents: documents, Deployments: catalogue, Clock: clock, IDs: fake.NewIDs()}), documents, catalogue}
}

func wantRefusal(t *testing.T, err error, code domain.Code, typ string, parts ...string) {
	t.Helper()
	e, ok := err.(*domain.Error) //nolint:errorlint // the application gives refusals bare
	if !ok || e.Code != code || e.Type != typ {
		t.Errorf("got %v, want %s (%s)", err, code, typ)
		return
	}
	for _, part := range parts {
		if !strings.Contains(e.Message, part) {
			t.Errorf("%q lacks %q", e.Message, part)
		}
	}
}

// mcp 45, mcp 47: what was saved is read back byte for byte, under the hash that the save gave, and deploys under it.
func TestSavedDocumentIsReadBackAndDeploys(t *testing.T) {
	t.Parallel()
	ctx, r := context.Background(), newRoom()
	report, err := r.Check(ctx, operator, authoring.CheckRequest{Source: []byte(hello), Path: "team/hello.awl"})
	if err != nil || !report.DeploysGreen || report.Steps != 1 {
		t.Fatalf("%+v %v", report, err)
	}
	saved, err := r.Save(ctx, operator, authoring.SaveRequest{Path: "team/hello.awl", Source: []byte(hello)})
	if err != nil || !saved.Created || saved.Name != "hello" {
		t.Fatalf("%+v %v", saved, err)
	}
	read, err := r.Read(ctx, operator, "team/hello.awl")
	if err != nil || string(read.Source) != hello || read.ContentHash != saved.ContentHash {
		t.Errorf("%+v %v", read, err)
	}
	list, err := r.List(ctx, operator)
	if err != nil || list.Count != 1 || list.Entries[0].ContentHash != saved.ContentHash || list.Entries[0].Bytes != int64(len(hello)) {
		t.Errorf("%+v %v", list, err)
	}
	var steps []int
	first, err := r.Deploy(ctx, operator, authoring.DeployRequest{
		Path: "team/hello.awl", ContentHash: saved.ContentHash,
		Progress: func(done int) { steps = append(steps, done) },
	})
	if err != nil || !first.FreshlyLoaded || first.PackageID != saved.ContentHash || first.WorkflowType != "hello" {
		t.Fatalf("%+v %v", first, err)
	}
	if len(steps) != 4 || len(first.Steps) != 4 || first.Steps[0].Step != "check" || first.Steps[3].Step != "deploy" {
		t.Errorf("steps %v %v", steps, first.Steps)
	}
	again, err := r.Deploy(ctx, operator, authoring.DeployRequest{Path: "team/hello.awl", ContentHash: saved.ContentHash})
	if err != nil || again.FreshlyLoaded || again.DeploymentID != first.DeploymentID {
		t.Errorf("%+v %v", again, err)
	}
	if c, err := r.catalogue.Routed(ctx, "hello"); err != nil || c.Plan.ContentHash != saved.ContentHash {
		t.Errorf("%v", err)
	}
}

// server 1.9: a text that is in no workspace has no document path, whatever its sender calls it.
func TestSourceDeploysWithoutBeingSaved(t *testing.T) {
	t.Parallel()
	ctx, r := context.Background(), newRoom()
	d, err := r.DeploySource(ctx, operator, authoring.SourceRequest{Name: "hello.awl", Source: []byte(hello)})
	if err != nil || d.DocumentPath != "" || !d.FreshlyLoaded {
		t.Errorf("%+v %v", d, err)
	}
	if list, _ := r.List(ctx, operator); list.Count != 0 {
		t.Errorf("%d documents", list.Count)
	}
}

func TestDeployRefusals(t *testing.T) {
	t.Parallel()
	ctx, r := context.Background(), newRoom()
	wrong := strings.Replace(hello, "String", "Strin", 1)
	saved, err := r.Save(ctx, operator, authoring.SaveRequest{Path: "hello.awl", Source: []byte(wrong)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Deploy(ctx, operator, authoring.DeployRequest{Path: "hello.awl", ContentHash: saved.ContentHash})
	wantRefusal(t, err, domain.CodeInvalidInput, "CheckRefused", "3:", "check_document")
	_, err = r.Deploy(ctx, operator, authoring.DeployRequest{Path: "hello.awl", ContentHash: strings.Repeat("0", 64)})
	wantRefusal(t, err, domain.CodeInvalidInput, "RevisionMismatch", "does not match the saved document", "Re-read")
	_, err = r.Deploy(ctx, operator, authoring.DeployRequest{Path: "other.awl", ContentHash: saved.ContentHash})
	wantRefusal(t, err, domain.CodeNotFound, "DocumentNotFound", "other.awl", "list_documents")
	who := access.Caller{Subject: "bo", Mode: "token"}
	_, err = r.Deploy(ctx, who, authoring.DeployRequest{Path: "no path", ContentHash: saved.ContentHash})
	wantRefusal(t, err, domain.CodeDeployDenied, "DeployGrantMissing", "deploy grant", "x-aion-deploy")
	_, err = r.Save(ctx, who, authoring.SaveRequest{Path: "hello.awl"})
	wantRefusal(t, err, domain.CodeDeployDenied, "DeployGrantMissing", "deploy grant")
	_, err = r.DeploySource(ctx, who, authoring.SourceRequest{})
	wantRefusal(t, err, domain.CodeDeployDenied, "DeployGrantMissing", "deploy grant")
}

func TestSaveRefusals(t *testing.T) {
	t.Parallel()
	ctx, r := context.Background(), newRoom()
	_, err := r.Save(ctx, operator, authoring.SaveRequest{Path: "../x.awl"})
	wantRefusal(t, err, domain.CodeInvalidInput, "DocumentPathInvalid")
	_, err = r.Save(ctx, operator, authoring.SaveRequest{Path: "x.awl", Source: make([]byte, 1<<20+1)})
	wantRefusal(t, err, domain.CodeInvalidInput, "DocumentTooLarge", "1048576")
	_, err = r.Check(ctx, operator, authoring.CheckRequest{Source: make([]byte, 1<<20+1)})
	wantRefusal(t, err, domain.CodeInvalidInput, "DocumentTooLarge", "1048577")
	_, err = r.Save(ctx, operator, authoring.SaveRequest{Path: "x.awl", Source: []byte("a"), ExpectedHash: strings.Repeat("0", 64)})
	wantRefusal(t, err, domain.CodeInvalidInput, "RevisionMismatch", "Re-read")
}

// server 14: of two savers with one base exactly one wins.
func TestOfManySaversWithOneBaseOneWins(t *testing.T) {
	t.Parallel()
	ctx, r := context.Background(), newRoom()
	base, err := r.Save(ctx, operator, authoring.SaveRequest{Path: "x.awl", Source: []byte("base")})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	won := 0
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			_, err := r.Save(ctx, operator, authoring.SaveRequest{Path: "x.awl", Source: []byte{byte('a' + i)}, ExpectedHash: base.ContentHash})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
				return
			}
			wantRefusal(t, err, domain.CodeInvalidInput, "RevisionMismatch")
		})
	}
	wait.Wait()
	if won != 1 {
		t.Errorf("%d savers won", won)
	}
}

func TestImportsAreHashedCheckedAndKeptWithTheVersion(t *testing.T) {
	t.Parallel()
	ctx, r := context.Background(), newRoom()
	source := `//! Import a schema.
workflow imp
  input ticket: Ticket
  outcome done: type Ticket, route success

type Ticket = schema("schemas/ticket.schema.json")

step finish
  route done(ticket)
`
	before, err := r.Save(ctx, operator, authoring.SaveRequest{Path: "imp.awl", Source: []byte(source)})
	if err != nil {
		t.Fatal(err)
	}
	r.documents.PutFile("schemas/ticket.schema.json", []byte(`{"type":"object","additionalProperties":false,"required":["id"],"properties":{"id":{"type":"string"}}}`))
	after, err := r.Read(ctx, operator, "imp.awl")
	if err != nil || after.ContentHash == before.ContentHash {
		t.Errorf("the hash does not cover the import: %v", err)
	}
	if _, err = r.Deploy(ctx, operator, authoring.DeployRequest{Path: "imp.awl", ContentHash: before.ContentHash}); domain.CodeOf(err) != domain.CodeInvalidInput {
		t.Errorf("deployed under a stale hash: %v", err)
	}
	report, err := r.Check(ctx, operator, authoring.CheckRequest{Source: []byte(source), Path: "imp.awl"})
	if err != nil {
		t.Fatal(err)
	}
	if !report.DeploysGreen {
		t.Fatalf("%+v", report.Diagnostics)
	}
	if d, err := r.Deploy(ctx, operator, authoring.DeployRequest{Path: "imp.awl", ContentHash: after.ContentHash}); err != nil || d.PackageID != after.ContentHash {
		t.Errorf("%+v %v", d, err)
	}
}

// A deploy says what its success hides: that another document served the type until now, and that nothing of this server
// executes an action.
func TestDeployWarnsOfWhatItsSuccessHides(t *testing.T) {
	t.Parallel()
	ctx, r := context.Background(), newRoom()
	deploy := func(path, source string) []string {
		t.Helper()
		saved, err := r.Save(ctx, operator, authoring.SaveRequest{Path: path, Source: []byte(source)})
		if err != nil {
			t.Fatal(err)
		}
		d, err := r.Deploy(ctx, operator, authoring.DeployRequest{Path: path, ContentHash: saved.ContentHash})
		if err != nil {
			t.Fatal(err)
		}
		return d.Warnings
	}
	changed := strings.Replace(hello, "echo hello", "echo hi", 1)
	for i, c := range []struct{ path, source string }{
		{"hello.awl", hello}, {"hello.awl", changed}, {"other/copy.awl", changed}, // the last is the same version
	} {
		if got := deploy(c.path, c.source); len(got) != 0 {
			t.Errorf("deploy %d: %v", i, got)
		}
	}
	for _, c := range []struct {
		what, path, source string
		parts              []string
	}{
		{"a type of another document", "other/copy.awl", hello + "// mine\n", []string{"hello", "instead of", "hello.awl", "rename"}},
		{"no body", "other/copy.awl", strings.Replace(hello, "    run \"echo hello {{name}}\"\n", "", 1), []string{"greet", "worker shell", "unserved"}},
	} {
		got := deploy(c.path, c.source)
		if len(got) != 1 {
			t.Errorf("%s: %v", c.what, got)
			continue
		}
		for _, part := range c.parts {
			if !strings.Contains(got[0], part) {
				t.Errorf("%s: %q lacks %q", c.what, got[0], part)
			}
		}
	}
}

// awl 8: a child that the deployed type can never serve refuses the deploy.
func TestChildIsHeldAgainstTheDeployedType(t *testing.T) {
	t.Parallel()
	ctx, r := context.Background(), newRoom()
	deploy := func(name, source string) ([]string, error) {
		d, err := r.DeploySource(ctx, operator, authoring.SourceRequest{Name: name + ".awl", Source: []byte(source)})
		return d.Warnings, err
	}
	parent := func(declaration, call string) string {
		return "//! Calls kid.\nworkflow parent\n  input n: Int\n  outcome done: type String, route success\n\nchild " + declaration +
			"\n\nstep one\n  " + call + "\n  route done(\"x\")\n"
	}
	if warnings, err := deploy("early", parent("kid(n: String) -> Bool", "kid(n: \"a\") -> x")); err != nil || len(warnings) == 0 || !strings.Contains(warnings[0], "not deployed yet") {
		t.Fatalf("not deployed yet: %v, %v", warnings, err)
	}
	const kid = "//! Counts.\nworkflow kid\n  input n: Int\n  input note: String?\n  outcome done: type String, route success\n" +
		"  outcome none: type Int, route failure\n\nstep one\n  sleep 1s\n  route done(\"x\")\n"
	if _, err := deploy("kid", kid); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ declaration, call, refusal string }{
		{"kid(n: Int) -> String", "kid(n: n) -> x", ""},
		{"kid(n: Int, note: String) -> String", "kid(n: n, note: \"a\") -> x", ""},
		{"kid(n: String) -> String", "kid(n: \"a\") -> x", "`n`: String where Int is expected"},
		{"kid() -> String", "kid() -> x", "`n` is missing"},
		{"kid(n: Int, m: Int) -> String", "kid(n: n, m: n) -> x", "`m` is not expected"},
		{"kid(n: Int) -> Int", "kid(n: n) -> x", "of done: String where Int is expected"}, // none is a failure
		{"kid(n: Int) -> Int", "spawn kid(n: n)", ""},
	} {
		_, err := deploy("parent", parent(c.declaration, c.call))
		if c.refusal == "" {
			if err != nil {
				t.Errorf("%s: %v", c.declaration, err)
			}
			continue
		}
		var refusal *domain.Error
		if !errors.As(err, &refusal) || refusal.Type != "CompileRefused" || !strings.Contains(refusal.Message, c.refusal) {
			t.Errorf("%s: %v", c.declaration, err)
		}
	}
	// A workflow that calls itself is held against what this deploy makes of it.
	const loop = "//! Calls itself.\nworkflow again\n  input n: %s\n  outcome done: type String, route success\n\n" +
		"child again(n: %s) -> String\n\nstep one\n  again(n: n) -> x\n  route done(x)\n"
	for _, typ := range []string{"Int", "String"} {
		if _, err := deploy("again", fmt.Sprintf(loop, typ, typ)); err != nil {
			t.Errorf("%s: %v", typ, err)
		}
	}
}
