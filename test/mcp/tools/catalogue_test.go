package tools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"aion/test/mcp/wire"
)

type toolEntry struct {
	Name         string
	Title        string
	Description  string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Annotations  map[string]bool
}

func listed(t *testing.T, w *world) ([]toolEntry, []byte) {
	t.Helper()
	reply := w.Send(t, wire.RPC("1", "tools/list", ""))
	var result struct{ Tools []toolEntry }
	if err := json.Unmarshal(reply.Last(t).Result, &result); err != nil {
		t.Fatal(err)
	}
	return result.Tools, reply.Body
}

func readTools() []string {
	return []string{"describe_run", "read_transcript", "read_history", "list_runs", "query", "list_documents", "read_document", "check_document"}
}

func allTools() []string {
	return append(readTools(), "start_run", "signal", "cancel", "save_document", "deploy_document")
}

// mcp 30, mcp 31, mcp 36
func TestDiscover(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	for _, r := range []wire.Request{wire.RPC("1", "server/discover", ""), wire.RPC("1", "server/discover", "").Replace(wire.Meta, wire.MetaTasks)} {
		d := decode(t, w.Send(t, r).Last(t).Result)
		if d.text("resultType") != "complete" || d.int("ttlMs") != 3_600_000 || d.text("cacheScope") != "private" {
			t.Errorf("%v", d.members)
		}
		if versions, _ := d.members["supportedVersions"].([]any); len(versions) != 1 || versions[0] != "2026-07-28" {
			t.Errorf("versions %v", versions)
		}
		capabilities := d.at("capabilities")
		declared := strings.Contains(string(r.Body), wire.MetaTasks)
		_, advertised := capabilities.at("extensions").members["io.modelcontextprotocol/tasks"]
		if tools := capabilities.at("tools"); tools.members == nil || len(tools.members) != 0 || advertised != declared {
			t.Errorf("capabilities %v, tasks declared %v", capabilities.members, declared)
		}
		for name := range capabilities.members {
			if name != "tools" && (name != "extensions" || !declared) {
				t.Errorf("capability %s is advertised, tasks declared %v", name, declared)
			}
		}
		info := d.at("_meta").at("io.modelcontextprotocol/serverInfo")
		if info.text("name") != "aion" || info.text("version") != "1.2.3" || info.text("title") != "aion workflow server" {
			t.Errorf("server info %v", info.members)
		}
		instructions := d.text("instructions")
		for _, part := range []string{"describe_run", "NEVER INVENT AN IDENTIFIER"} {
			if !strings.Contains(instructions, part) {
				t.Errorf("the instructions do not contain %q", part)
			}
		}
		if n := utf8.RuneCountInString(instructions); n > 2000 { // report 61
			t.Errorf("%d characters of instructions", n)
		}
	}
}

// mcp 32, report 62
func TestToolListIsOnePageOfThirteen(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	tools, first := listed(t, w)
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
		if len(tool.Name) > 24 {
			t.Errorf("the name %s is long", tool.Name)
		}
	}
	if !slices.Equal(names, allTools()) {
		t.Errorf("tools %v", names)
	}
	if _, second := listed(t, w); string(first) != string(second) {
		t.Error("two lists differ")
	}
	var result struct{ Tools json.RawMessage }
	if err := json.Unmarshal(first, &result); err != nil || len(result.Tools) > 24<<10 {
		t.Errorf("the catalogue has %d bytes, %v", len(result.Tools), err)
	}
	d := decode(t, w.Send(t, wire.RPC("1", "tools/list", "").Replace(wire.Meta, wire.MetaTasks)).Last(t).Result)
	if _, there := d.members["nextCursor"]; there || d.int("ttlMs") != 300_000 || d.text("cacheScope") != "private" || d.text("resultType") != "complete" {
		t.Errorf("result %v", d.members["ttlMs"])
	}
	reply := w.Send(t, wire.RPC("1", "tools/list", `"cursor":"x"`))
	if reply.Status != 400 || reply.Code(t) != -32602 {
		t.Errorf("a cursor: %s", reply.Body)
	}
}

// mcp 33, mcp 34, report 55, report 56
func TestEachToolIsUsableByEveryClient(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	tools, body := listed(t, w)
	if strings.Contains(string(body), "x-mcp-header") {
		t.Error("x-mcp-header occurs")
	}
	for _, tool := range tools {
		wantRoot(t, tool.Name, tool.InputSchema)
		wantRoot(t, tool.Name, tool.OutputSchema)
		if tool.Title == "" || tool.Description == "" || utf8.RuneCountInString(tool.Description) > 2000 || !regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`).MatchString(tool.Name) {
			t.Errorf("%s: title %q, %d characters of description", tool.Name, tool.Title, utf8.RuneCountInString(tool.Description))
		}
		reads := slices.Contains(readTools(), tool.Name)
		want := map[string]bool{
			"readOnlyHint": reads, "destructiveHint": tool.Name == "cancel",
			"idempotentHint": tool.Name != "start_run" && tool.Name != "signal", "openWorldHint": tool.Name == "start_run" || tool.Name == "signal",
		}
		for hint, value := range want {
			if got, there := tool.Annotations[hint]; !there || got != value {
				t.Errorf("%s: %s is %v", tool.Name, hint, got)
			}
		}
	}
}

func wantRoot(t *testing.T, name string, schema []byte) {
	t.Helper()
	root := decode(t, schema)
	if root.text("type") != "object" || root.members["additionalProperties"] != false {
		t.Errorf("%s: the root is no closed object", name)
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "not", "if", "$ref"} {
		if _, there := root.members[keyword]; there {
			t.Errorf("%s: the root has %s", name, keyword)
		}
	}
	known := strings.Fields("type properties required additionalProperties enum const format pattern minLength maxLength minimum maximum minItems maxItems uniqueItems items anyOf $ref $defs default description")
	walk(root.members, func(keyword string) {
		if !slices.Contains(known, keyword) {
			t.Errorf("%s: keyword %s", name, keyword)
		}
	})
}

// walk visits every keyword of a schema.
func walk(node any, visit func(keyword string)) {
	n, _ := node.(map[string]any)
	for keyword, operand := range n {
		visit(keyword)
		switch keyword {
		case "properties", "$defs":
			for _, inner := range operand.(map[string]any) {
				walk(inner, visit)
			}
		case "items", "additionalProperties":
			walk(operand, visit)
		case "anyOf":
			for _, inner := range operand.([]any) {
				walk(inner, visit)
			}
		}
	}
}

// The catalogue and the instructions are the contract's own text.
func TestCatalogueIsTheContract(t *testing.T) {
	t.Parallel()
	folder := wire.Folder(t)
	if folder == "" {
		t.Skip("AION_MCP_SCHEMAS is not set: the contract is not beside this clone")
	}
	contract, err := os.ReadFile(filepath.Join(folder, "..", "spec", "mcp.md"))
	if err != nil {
		t.Fatal(err)
	}
	section := func(from, to string) string {
		_, rest, _ := strings.Cut(string(contract), from)
		text, _, found := strings.Cut(rest, to)
		if !found {
			t.Fatalf("no section %s", from)
		}
		return text
	}
	w := open(t, settings{})
	var result struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(w.Send(t, wire.RPC("1", "tools/list", "")).Last(t).Result, &result); err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(section("## 4. The tools", "## 5. Instructions"), -1)
	if len(blocks) != len(result.Tools) {
		t.Fatalf("%d tools in the contract, %d served", len(blocks), len(result.Tools))
	}
	for i, block := range blocks {
		want, got := decode(t, []byte(block[1])), decode(t, result.Tools[i])
		if a, b := canonical(t, want.members), canonical(t, got.members); a != b {
			t.Errorf("tool %s differs from the contract\nwant %s\n got %s", want.text("name"), a, b)
		}
	}
	instructions := regexp.MustCompile("(?s)```text\n(.*?)\n```").FindStringSubmatch(section("## 5. Instructions", "## 6. Tasks"))
	d := decode(t, w.Send(t, wire.RPC("1", "server/discover", "")).Last(t).Result)
	if d.text("instructions") != instructions[1] {
		t.Error("the instructions differ from the contract")
	}
}

func canonical(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// mcp 37
func TestToolsOfTheOtherRouteAreUnknown(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	for _, name := range []string{"assistant_context", "assistant_document_edit", "assistant_document_check", "describe_runs", "Describe_run"} {
		w.invalid(name, nil)
	}
}

// mcp 53
func TestArgumentsThatDoNotFitAreProtocolErrors(t *testing.T) {
	t.Parallel()
	w := open(t, settings{})
	run := args{"namespace": "default", "workflow_id": uuid(1)}
	stream := with(run, "run_id", uuid(2), "activity_id", 0, "attempt", 1)
	w.invalid("describe_run", with(run, "workflow_id", "not-a-uuid"))
	if got := w.invalid("describe_run", with(run, "runid", uuid(2))); !strings.Contains(got.Message, "did you mean `run_id`?") {
		t.Errorf("message %q", got.Message)
	}
	for _, c := range []struct {
		tool string
		a    args
	}{
		{"describe_run", args{}},
		{"describe_run", with(run, "extra", 1)},
		{"describe_run", with(run, "namespace", 1)},
		{"describe_run", with(run, "namespace", "")},
		{"describe_run", with(run, "run_id", nil)},
		{"read_transcript", with(stream, "limit", 0)},
		{"read_transcript", with(stream, "limit", 501)},
		{"read_transcript", with(stream, "attempt", 0)},
		{"read_transcript", with(stream, "activity_id", -1)},
		{"read_transcript", with(stream, "from_seq", 1.5)},
		{"read_history", with(run, "from_seq", 0)},
		{"read_history", with(run, "limit", 501)},
		{"list_runs", args{"namespace": "default", "limit": 201}},
		{"list_runs", args{"namespace": "default", "started_after": "yesterday"}},
		{"list_runs", args{"namespace": "default", "status": "running"}},
		{"query", run},
		{"list_documents", args{"x": 1}},
		{"start_run", args{"namespace": "default", "workflow_type": strings.Repeat("x", 129)}},
		{"cancel", with(run, "reason", strings.Repeat("x", 1001))},
		{"save_document", args{"path": "a.awl"}},
		{"deploy_document", args{"path": "a.awl", "content_hash": "x"}},
		{"deploy_document", args{"path": "a.awl", "content_hash": strings.Repeat("A", 64)}},
	} {
		w.invalid(c.tool, c.a)
	}
	// mcp 62
	for _, path := range []string{"../x.awl", "/x.awl", "a//b.awl", "x.txt", ".hidden.awl", "a/.b.awl", "x.awl/", "a/../b.awl", "x.AWL", strings.Repeat("a", 240) + ".awl", "a b.awl", "a\\b.awl", "x.awl\n"} {
		w.invalid("read_document", args{"path": path})
		w.invalid("check_document", args{"source": "", "path": path})
		w.invalid("save_document", args{"path": path, "source": ""})
		w.invalid("deploy_document", args{"path": path, "content_hash": strings.Repeat("0", 64)})
	}
}
