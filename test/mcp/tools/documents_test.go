package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"aion/test/mcp/wire"
)

// mcp 56
func TestAuthoringLoop(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	if got := w.ok("list_documents", nil); got.int("count") != 0 || got.members["documents"] == nil || got.is("truncated") {
		t.Errorf("empty workspace: %v", got.members)
	}
	if got := w.ok("check_document", args{"source": greetDoc, "path": "team/greet.awl"}); !got.is("ok") || !got.is("deploys_green") || got.int("steps") != 1 || len(got.list("diagnostics")) != 0 {
		t.Errorf("check: %v", got.members)
	}
	source := greetDoc + "\n// ä \U0001F600 \t\"\\\n"
	saved := w.ok("save_document", args{"path": "team/greet.awl", "source": source})
	if !saved.is("created") || saved.text("name") != "greet" || saved.text("path") != "team/greet.awl" || saved.int("bytes") != int64(len(source)) {
		t.Errorf("save: %v", saved.members)
	}
	hash := saved.text("content_hash")
	read := w.ok("read_document", args{"path": "team/greet.awl"})
	if read.text("source") != source || read.text("content_hash") != hash || read.int("bytes") != int64(len(source)) {
		t.Errorf("read: %v", read.members)
	}
	again := w.ok("save_document", args{"path": "team/greet.awl", "source": source, "expected_content_hash": hash})
	if again.is("created") || again.text("content_hash") != hash {
		t.Errorf("saved again: %v", again.members)
	}
	w.ok("save_document", args{"path": "b.awl", "source": "no workflow"}) // a draft that does not check may be saved
	list := w.ok("list_documents", nil)
	if documents := list.list("documents"); list.int("count") != 2 || documents[0].text("path") != "b.awl" || documents[1].text("name") != "greet" || documents[1].text("content_hash") != hash {
		t.Errorf("list: %v", list.members)
	}
	got := w.ok("deploy_document", args{"path": "team/greet.awl", "content_hash": hash})
	var steps []string
	for _, step := range got.list("steps") {
		steps = append(steps, step.text("step"))
	}
	d := got.at("deployment")
	if strings.Join(steps, " ") != "check compile package deploy" || d.text("package_id") == "" || d.text("workflow_type") != "greet_once" || !d.is("freshly_loaded") || d.text("document_path") != "team/greet.awl" {
		t.Errorf("deploy: %v", got.members)
	}
	run := w.start(d.text("workflow_type"), args{"name": "Ada"})
	end := w.awaitStatus(run, "Completed")
	if end.text("package_id") != d.text("package_id") || end.at("result").text("text") != "hello Ada" {
		t.Errorf("run: %v", end.members)
	}
	page := w.ok("read_transcript", args{"namespace": "default", "workflow_id": run.text("workflow_id"), "run_id": run.text("run_id"), "activity_id": 0, "attempt": 1})
	if events := page.list("events"); len(events) != 2 || events[1].text("text") != "Ada" || page.is("attempt_open") {
		t.Errorf("transcript: %v", page.members)
	}
}

// mcp 57, mcp 58
func TestCheckAnswersWithFindings(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	bad := strings.Replace(greetDoc, "route done(text: text)", "route nowhere(text: text)", 1)
	for what, source := range map[string]string{"unknown route": bad, "unparsable": "workflow {{{ \n step", "empty": "", "tab": "\tworkflow x"} {
		got := w.ok("check_document", args{"source": source})
		if got.is("ok") || got.is("deploys_green") || !got.null("steps") || len(got.list("diagnostics")) == 0 {
			t.Errorf("%s: %v", what, got.members)
		}
		for _, f := range got.list("diagnostics") {
			if f.text("message") == "" || f.int("line") < 1 || f.int("column") < 1 || !strings.HasPrefix(f.text("code"), "AWL") {
				t.Errorf("%s: finding %v", what, f.members)
			}
		}
	}
	var long strings.Builder
	long.WriteString(greetDoc)
	for i := range 150 {
		fmt.Fprintf(&long, "\n// line %d\ntype Extra%d { a: Nowhere }\n", i, i)
	}
	for _, source := range []string{long.String(), greetDoc + strings.Repeat("// padding\n", 200)} {
		got := w.ok("check_document", args{"source": source})
		names := make([]string, 0, len(got.members))
		for name := range got.members {
			names = append(names, name)
		}
		sort.Strings(names)
		if strings.Join(names, " ") != "deploys_green diagnostics ok steps" {
			t.Errorf("members %v", names)
		}
		if n := len(got.list("diagnostics")); n > 100 || !got.is("ok") && n != 100 {
			t.Errorf("%d findings", n)
		}
	}
}

// mcp 33: the document in check_document's description is one of the language.
func TestDocumentInTheDescriptionChecks(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	tools, _ := listed(t, w)
	for _, tool := range tools {
		if tool.Name != "check_document" {
			continue
		}
		source := regexp.MustCompile(`(?s)A whole document:\n(.*?\n)\nAlso:`).FindStringSubmatch(tool.Description)
		got := w.ok("check_document", args{"source": source[1]})
		for _, f := range got.list("diagnostics") {
			// It uses a fork, which is refused by name until the machine runs forks.
			if !strings.Contains(f.text("message"), "fork") {
				t.Errorf("%v", f.members)
			}
		}
	}
}

// mcp 59
func TestDocumentThatWasNeverSaved(t *testing.T) {
	t.Parallel()
	present := open(t, settings{})
	present.ok("save_document", args{"path": "a.awl", "source": greetDoc})
	for _, w := range []*world{present, open(t, settings{})} {
		read := w.refused("read_document", args{"path": "none.awl"}, "not_found", "DocumentNotFound")
		deployed := w.refused("deploy_document", args{"path": "none.awl", "content_hash": strings.Repeat("0", 64)}, "not_found", "DocumentNotFound")
		for _, message := range []string{read.Message, deployed.Message} {
			if !strings.Contains(message, "list_documents") || !strings.Contains(message, "none.awl") {
				t.Errorf("%s", message)
			}
		}
	}
}

// mcp 60
func TestStaleHash(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	old := w.ok("save_document", args{"path": "a.awl", "source": greetDoc}).text("content_hash")
	w.ok("save_document", args{"path": "a.awl", "source": greetDoc + "// changed\n"})
	for _, got := range []wire.Refusal{
		w.refused("deploy_document", args{"path": "a.awl", "content_hash": old}, "invalid_input", "RevisionMismatch"),
		w.refused("save_document", args{"path": "a.awl", "source": "x", "expected_content_hash": old}, "invalid_input", "RevisionMismatch"),
	} {
		if !strings.Contains(got.Message, "does not match the saved document") || !strings.Contains(got.Message, "Re-read") {
			t.Errorf("%s", got.Message)
		}
	}
	if got := w.ok("read_document", args{"path": "a.awl"}); got.text("source") != greetDoc+"// changed\n" {
		t.Error("a refused save has changed the document")
	}
	w.refused("start_run", args{"namespace": "default", "workflow_type": "greet_once"}, "not_found", "WorkflowTypeNotFound")
}

// mcp 61
func TestNoWorkspace(t *testing.T) {
	t.Parallel()
	w := open(t, settings{workspace: "none"})
	for tool, a := range map[string]args{
		"list_documents": nil, "read_document": {"path": "a.awl"}, "save_document": {"path": "a.awl", "source": "x"},
		"deploy_document": {"path": "a.awl", "content_hash": strings.Repeat("0", 64)}, "check_document": {"source": greetDoc, "path": "a.awl"},
	} {
		if got := w.refused(tool, a, "not_configured", "WorkspaceUnconfigured"); !strings.Contains(got.Message, "authoring.workspace_dir") {
			t.Errorf("%s: %s", tool, got.Message)
		}
	}
}

// mcp 62
func TestLinkOutOfTheWorkspaceIsNotFollowed(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	w.ok("save_document", args{"path": "a.awl", "source": greetDoc})
	outside := filepath.Join(t.TempDir(), "secret.awl")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(w.dir, "link.awl")); err != nil {
		t.Fatal(err)
	}
	if reply := w.call("read_document", args{"path": "link.awl"}); !reply.Result(t).IsError || bytes.Contains(reply.Body, []byte("secret")) {
		t.Errorf("%s", reply.Body)
	}
	w.call("save_document", args{"path": "link.awl", "source": "overwritten"})
	if text, err := os.ReadFile(outside); err != nil || string(text) != "secret" {
		t.Errorf("the file behind the link is now %q, %v", text, err)
	}
}

// mcp 63
func TestLargestDocument(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	const limit = 1 << 20
	largest := greetDoc + "// " + strings.Repeat("x", limit-len(greetDoc)-4) + "\n"
	w.ok("save_document", args{"path": "a.awl", "source": largest})
	if got := w.ok("read_document", args{"path": "a.awl"}); got.text("source") != largest {
		t.Error("the largest document does not come back whole")
	}
	w.invalid("save_document", args{"path": "a.awl", "source": largest + "x"})
	// The schema counts code points, the document bytes.
	wide := strings.Repeat("ä", limit/2) + "x"
	for _, tool := range []string{"save_document", "check_document"} {
		a := args{"source": wide}
		if tool == "save_document" {
			a["path"] = "b.awl"
		}
		if got := w.refused(tool, a, "invalid_input", "DocumentTooLarge"); !strings.Contains(got.Message, "1048576") {
			t.Errorf("%s: %s", tool, got.Message)
		}
	}
}

// mcp 63
func TestDeployingTheSameRevisionAgainChangesNothing(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	first := w.deploy("a.awl", greetDoc).at("deployment")
	again := w.deploy("a.awl", greetDoc).at("deployment")
	if !first.is("freshly_loaded") || again.is("freshly_loaded") || first.text("deployment_id") != again.text("deployment_id") || first.text("deployed_at") != again.text("deployed_at") {
		t.Errorf("%v\n%v", first.members, again.members)
	}
}

// mcp 64
func TestDraftThatDoesNotCheckIsNotDeployed(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	good := w.deploy("a.awl", greetDoc).at("deployment")
	bad := strings.Replace(greetDoc, "route done(text: text)", "route nowhere(text: text)", 1)
	saved := w.ok("save_document", args{"path": "a.awl", "source": bad})
	got := w.refused("deploy_document", args{"path": "a.awl", "content_hash": saved.text("content_hash")}, "invalid_input", "CheckRefused")
	if !strings.Contains(got.Message, "check_document") || !regexp.MustCompile(`\d+:\d+ `).MatchString(got.Message) {
		t.Errorf("%s", got.Message)
	}
	if run := w.start("greet_once", args{"name": "Ada"}); run.text("package_id") != good.text("package_id") {
		t.Error("the old route is gone")
	}
}

// mcp 25
func TestDeployReportsProgress(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	hash := w.ok("save_document", args{"path": "a.awl", "source": greetDoc}).text("content_hash")
	deploy := request(t, "deploy_document", args{"path": "a.awl", "content_hash": hash})
	for _, token := range []string{`"abc"`, `7`} {
		reply := w.Send(t, deploy.Replace(`"_meta":{`, `"_meta":{"progressToken":`+token+`,`))
		if len(reply.Messages) != 5 || reply.Header.Get("X-Accel-Buffering") != "no" {
			t.Fatalf("%d messages: %s", len(reply.Messages), reply.Body)
		}
		for i, text := range reply.Messages[:4] {
			var m wire.Message
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			if string(m.Params.ProgressToken) != token || m.Params.Progress != float64(i+1) || m.Params.Total != 4 {
				t.Errorf("%s", text)
			}
		}
		if reply.Result(t).IsError {
			t.Errorf("%s", reply.Body)
		}
	}
	if reply := w.Send(t, deploy); reply.Header.Get("Content-Type") != "application/json" {
		t.Errorf("without a token: %v", reply.Header)
	}
	// A refusal ends the stream like a result.
	stale := request(t, "deploy_document", args{"path": "a.awl", "content_hash": strings.Repeat("0", 64)}).Replace(`"_meta":{`, `"_meta":{"progressToken":1,`)
	if reply := w.Send(t, stale); reply.Header.Get("Content-Type") != "text/event-stream" || reply.Refusal(t).ErrorType != "RevisionMismatch" {
		t.Errorf("%s", reply.Body)
	}
	// mcp 26
	if reply := w.Send(t, request(t, "list_documents", nil).Replace(`"_meta":{`, `"_meta":{"progressToken":1,`)); reply.Header.Get("Content-Type") != "application/json" {
		t.Errorf("another tool with a token: %v", reply.Header)
	}
}

// mcp 27: a client that leaves leaves the deploy whole or absent.
func TestDeployOfAClientThatLeavesIsWholeOrAbsent(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	hash := w.ok("save_document", args{"path": "a.awl", "source": greetDoc}).text("content_hash")
	r := request(t, "deploy_document", args{"path": "a.awl", "content_hash": hash}).Replace(`"_meta":{`, `"_meta":{"progressToken":1,`)
	for range 20 {
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(r.Body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = r.Header
		if res, err := w.servers[0].Client().Do(req); err == nil {
			_, _ = res.Body.Read(make([]byte, 1))
			leave()
			_ = res.Body.Close()
		}
		leave()
	}
	if reply := w.call("start_run", args{"namespace": "default", "workflow_type": "greet_once", "input": args{"name": "Ada"}}); reply.Result(t).IsError {
		if got := reply.Refusal(t); got.ErrorType != "WorkflowTypeNotFound" {
			t.Errorf("neither whole nor absent: %+v", got)
		}
	}
	w.ok("deploy_document", args{"path": "a.awl", "content_hash": hash})
	w.start("greet_once", args{"name": "Ada"})
}
