package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// runnable is a test document that needs no remote worker, an input that fits its header, and how it ends.
type runnable struct {
	name    string
	input   map[string]any
	outcome string
	status  string
	result  string // canonical JSON; empty: not told by the document alone
}

// The documents of domain/awl/testdata/README.md that run on the server alone, with the result that their text promises.
func runnables() []runnable {
	return []runnable{
		{"minimal", map[string]any{}, "done", "Completed", ""},
		{"hello", map[string]any{"name": "Ada"}, "greeted", "Completed", ""},
		{"capture_lines", map[string]any{"words": []string{"a", "b c"}}, "read", "Completed", ""},
		{"fan_out", map[string]any{"words": []string{"a", "bcd"}}, "measured", "Completed", ""},
		{"fork_sequential", map[string]any{"lines": []string{"a", "b"}}, "written", "Completed", `{"text":"a\nb"}`},
		{"retry_flaky", map[string]any{}, "recovered", "Completed", ""},
		{"loop_counting", map[string]any{"max_polls": 10}, "finished", "Completed", ""},
		{"subflow_shout", map[string]any{"first": "a", "second": "b"}, "done", "Completed", `"A! B!"`},
		{
			"distribute_tolerant",
			map[string]any{"hosts": []string{"a", "down", "b"}},
			"surveyed", "Completed",
			`{"answered":2,"asked":3,"reports":["a is up","b is up"]}`,
		},
		{"distribute_tolerant", map[string]any{"hosts": []string{"down"}}, "all_down", "Failed", `{"asked":1}`},
		{
			"compensation",
			map[string]any{"seat": "1A", "card": "expired"},
			"cancelled", "Failed",
			`{"released":"released 1A","seat":"1A"}`,
		},
		{"compensation", map[string]any{"seat": "1A", "card": "valid"}, "booked", "Completed", `{"receipt":"reserved 1A","seat":"1A"}`},
		{
			"dag",
			map[string]any{"target": "x"},
			"built", "Completed",
			`{"bundle":"bundle of lint ok x and tests ok x","lint":"lint ok x","target":"x","tests":"tests ok x"}`,
		},
		{"commands", map[string]any{"note": "first"}, "noted", "Completed", `{"files":"","stats":{"commits":1},"subject":"first"}`},
		{"schema_import", map[string]any{"ticket": map[string]any{
			"id": "T-1", "kind": "incident", "labels": []string{"a"},
			"assignee": map[string]any{"name": "Bo"},
		}}, "paged", "Completed", ""},
		{"order_parent", map[string]any{"order_id": "o1", "quantity": 2}, "accepted", "Completed", `{"order_id":"o1"}`},
	}
}

// Every test document that needs no remote worker runs to the outcome that its text promises, over the built binary. A
// document may lie in the workspace without having been saved over MCP: an imported schema always does.
func TestTheRunnableDocumentsEndAsTheySay(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	c := connect(t, serve(t, home))
	placeSchemas(t, home)
	deployed := map[string]bool{}
	for _, name := range []string{"order_child", "order_audit"} {
		c.deploy(name+".awl", fixture(t, name+".awl"))
	}
	for _, k := range runnables() {
		if !deployed[k.name] {
			c.deploy(k.name+".awl", fixture(t, k.name+".awl"))
			deployed[k.name] = true
		}
		d := c.untilEnded(c.start(k.name, k.input))
		got, err := json.Marshal(d["result"])
		if err != nil {
			t.Fatal(err)
		}
		if d["status"] != k.status || d["outcome"] != k.outcome {
			t.Errorf("%s ended as %v, outcome %v, failure %v", k.name, d["status"], d["outcome"], d["failure"])
		}
		if k.result != "" && string(got) != k.result {
			t.Errorf("%s gives %s, want %s", k.name, got, k.result)
		}
	}
}

// placeSchemas copies the schemas of the test documents next to where documents are saved.
func placeSchemas(t *testing.T, home string) {
	t.Helper()
	from := filepath.Join("..", "..", "domain", "awl", "testdata", "valid", "schemas")
	to := filepath.Join(home, "authoring", "schemas")
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// wait_signal takes its signal, or expires two seconds later.
func TestASignalInTimeShipsAndSilenceExpires(t *testing.T) {
	t.Parallel()
	c := connect(t, serve(t, newHome(t)))
	c.deploy("wait_signal.awl", fixture(t, "wait_signal.awl"))
	heard, silent := c.start("wait_signal", map[string]any{"change": "one"}), c.start("wait_signal", map[string]any{"change": "two"})
	c.must("signal", map[string]any{
		"namespace": "default", "workflow_id": heard, "signal_name": "decision",
		"payload": map[string]any{"approve": true, "reviewer": "Bo"},
	})
	if d := c.untilEnded(heard); d["outcome"] != "shipped" {
		t.Errorf("%v %v", d["status"], d["outcome"])
	}
	if d := c.untilEnded(silent); d["outcome"] != "expired" || d["status"] != "Failed" {
		t.Errorf("%v %v", d["status"], d["outcome"])
	}
}

// The parent of the order documents starts one child that it waits for and one that outlives it.
func TestTheOrderChildrenAreRunsOfTheirOwn(t *testing.T) {
	t.Parallel()
	c := connect(t, serve(t, newHome(t)))
	for _, name := range []string{"order_child", "order_audit", "order_parent"} {
		c.deploy(name+".awl", fixture(t, name+".awl"))
	}
	parent := c.start("order_parent", map[string]any{"order_id": "o1", "quantity": 2})
	c.untilEnded(parent)
	found := map[string]map[string]any{}
	eventually(t, "both children end", func() bool {
		for _, r := range c.must("list_runs", map[string]any{"namespace": "default"})["runs"].([]any) {
			row := r.(map[string]any)
			found[row["workflow_type"].(string)] = row
		}
		return found["order_child"]["status"] == "Completed" && found["order_audit"]["status"] == "Completed"
	})
	var children []string
	for _, e := range c.history(parent) {
		if e["type"] == "ChildStarted" {
			children = append(children, e["data"].(map[string]any)["child_workflow_id"].(string))
		}
	}
	want := []string{found["order_child"]["workflow_id"].(string), found["order_audit"]["workflow_id"].(string)}
	if diff := cmp.Diff(want, children); diff != "" {
		t.Error(diff)
	}
}

const exactNumbers = `//! Integers go in, through a command and its JSON, and come back as they were.
workflow exact_numbers
  input big: Int
  input small: Int
  signal more: Int
  outcome done: type Numbers, route success

type Numbers { big: Int, small: Int, odd: Int, signalled: Int, same: Bool, tenth: Float }

worker shell
  action echo(n: Int) -> Int
    run "printf -- %s {{n}}" capture json

step all
  echo(n: big) -> echoed
  echo(n: small) -> lowest
  echo(n: 9007199254740993) -> odd
  wait more -> word
  route done(
    big: echoed,
    small: lowest,
    odd: odd,
    signalled: word,
    same: echoed == big and odd == 9007199254740993,
    tenth: 0.1,
  )
`

// report 76: 64-bit integers keep their digits through MCP, the store, the language, a command line and its output.
func TestIntegersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	c := connect(t, serve(t, newHome(t)))
	c.deploy("exact_numbers.awl", exactNumbers)
	id := c.start("exact_numbers", json.RawMessage(`{"big":9223372036854775807,"small":-9223372036854775808}`))
	c.must("signal", map[string]any{
		"namespace": "default", "workflow_id": id, "signal_name": "more", "payload": json.RawMessage(`9007199254740993`),
	})
	c.untilEnded(id)
	text := c.text("describe_run", map[string]any{"namespace": "default", "workflow_id": id})
	const want = `{"big":9223372036854775807,"odd":9007199254740993,"same":true,"signalled":9007199254740993,"small":-9223372036854775808,"tenth":0.1}`
	if !strings.Contains(strings.Join(strings.Fields(text), ""), want) {
		t.Errorf("the result is not exact: %s", text)
	}
	history := c.text("read_history", map[string]any{"namespace": "default", "workflow_id": id})
	for _, digits := range []string{"9223372036854775807", "-9223372036854775808", "9007199254740993"} {
		if !strings.Contains(history, digits) {
			t.Errorf("the history does not hold %s", digits)
		}
	}
}

// text is the text block of a tool's answer: the client decodes structured content to doubles.
func (c *client) text(tool string, args map[string]any) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	res, err := c.s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || res.IsError || len(res.Content) == 0 {
		c.t.Fatalf("%s: %v %+v", tool, err, res)
	}
	block, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		c.t.Fatalf("%s has no text", tool)
	}
	return block.Text
}

// Children that were never started are closed when their sibling fails: there is nothing to close, and nothing is left to carry.
func TestChildrenThatCannotStartFailTheirForkAlone(t *testing.T) {
	t.Parallel()
	s := serve(t, newHome(t))
	c := connect(t, s)
	c.deploy("parent.awl", `//! Calls a child that nobody has deployed, once per item.
workflow parent
  input xs: [String]
  outcome ok: type [String], route success

child kid(x: String) -> String

step a
  fork x in xs
    kid(x: x) -> y
  join -> ys
  route ok(ys)
`)
	for range 3 { // the messages of one run are carried before those of the next
		id := c.start("parent", map[string]any{"xs": []string{"a", "b", "c", "d"}})
		if run := c.untilEnded(id); run["status"] != "Failed" {
			t.Errorf("%v", run)
		}
	}
	if strings.Contains(s.log.String(), "cannot be delivered") {
		t.Errorf("a message is stuck:\n%s", s.log)
	}
}

// report 28: a tree of children that grows without end is closed to its tip, and stays closed.
func TestCancelCatchesATreeThatGrows(t *testing.T) {
	t.Parallel()
	s := serve(t, newHome(t))
	c := connect(t, s)
	c.deploy("rec.awl", `//! Calls itself without end.
workflow rec
  outcome done: type D, route success

type D { v: String }

child rec() -> D

step a
  rec() -> r
  route done(v: r.v)
`)
	id := c.start("rec", map[string]any{})
	running := func() int {
		page := c.must("list_runs", map[string]any{"namespace": "default", "status": "Running", "limit": 100})
		return len(page["runs"].([]any))
	}
	eventually(t, "a deep tree", func() bool { return running() >= 50 })
	c.must("cancel", map[string]any{"namespace": "default", "workflow_id": id})
	eventually(t, "a tree that is closed", func() bool { return running() == 0 })
	if n := running(); n != 0 {
		t.Errorf("%d runs have grown again", n)
	}
}
