package compile_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/action"
	"aion/domain/awl/plan"
)

func TestACallPinsNodeAndTimeoutOverItsDeclaration(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, document(`  timeout 2d
  outcome done: type Nil, route success

const patience = 3m

worker t
  action go() -> Nil
    node here, timeout patience, retry 2 every 10s
  action back() -> Nil
    retry 5 backoff 1s..1m`, `step s
  go()
  go()
    timeout 1s
  go()
    node there
  route done
`))
	type call struct {
		Node    string
		Timeout int64
	}
	var got []call
	for _, st := range p.Flow.Steps[0].Body[:3] {
		got = append(got, call{st.Node, st.TimeoutMS})
	}
	want := []call{{"here", 180_000}, {"here", 1000}, {"there", 180_000}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if p.TimeoutMS != 172_800_000 {
		t.Error(p.TimeoutMS)
	}
	if diff := cmp.Diff(&plan.Retry{Count: 2, EveryMS: 10_000}, p.Action("t", "go").Retry); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&plan.Retry{Count: 5, BackoffMS: []int64{1000, 60_000}}, p.Action("t", "back").Retry); diff != "" {
		t.Error(diff)
	}
}

func TestBodiesKeepTheirTextOrAreSplitOnce(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, document(`  outcome done: type Nil, route success

type Row { a: Int }

command tool name="x" *flags +files:
  cwd "{workspace_root}/{{name}}"
  export A = "{workspace_root}/b"
  // A comment.
  echo 'two words' {{flags}} --n={{name}}
  cat {{files}}

worker t
  action said(a: String?, b: [Int]) -> Nil
    run "echo {{a}} {{b}}"
  action ran(name: String, flags: [String], files: [String]) -> [String]
    runs command tool capture lines
  action remote(row: Row, rows: [Row], flag: Bool?) -> Row`, `step s
  said(b: [1])
  route done
`))
	body, err := json.Marshal(p.Action("t", "ran").Body)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"command":{"capture":"lines","command":{"name":"tool",` +
		`"cwd":[{"root":true},{"lit":"/"},{"hole":"name"}],"env":[{"name":"A","value":"{workspace_root}/b"}],` +
		`"params":[{"name":"name","kind":"one","default":"x"},{"name":"flags","kind":"list"},{"name":"files","kind":"list1"}],` +
		`"lines":[[{"pieces":[{"lit":"echo"}]},{"pieces":[{"lit":"two words"}]},{"pieces":[{"hole":"flags"}]},` +
		`{"pieces":[{"lit":"--n="},{"hole":"name"}]}],[{"pieces":[{"lit":"cat"}]},{"pieces":[{"hole":"files"}]}]]}}}`
	if diff := cmp.Diff(want, string(body)); diff != "" {
		t.Error(diff)
	}
	said := p.Action("t", "said")
	if said.Body.Run == nil || said.Body.Run.Command != "echo {{a}} {{b}}" || said.Body.Run.Capture != action.CaptureOutcome {
		t.Errorf("%+v", said.Body)
	}
	params := []action.Param{{Name: "a", Kind: "scalar", Optional: true}, {Name: "b", Kind: "list"}}
	if diff := cmp.Diff(params, said.Params); diff != "" {
		t.Error(diff)
	}
	remote := p.Action("t", "remote")
	params = []action.Param{{Name: "row", Kind: "other"}, {Name: "rows", Kind: "other"}, {Name: "flag", Kind: "scalar", Optional: true}}
	if diff := cmp.Diff(params, remote.Params); diff != "" || remote.Body != nil {
		t.Error(diff)
	}
}

func TestInputsSayWhetherTheyMayBeLeftOut(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, document("  /// Who.\n  input a: String?\n  signal s: Int\n  outcome done: type Nil, route failure",
		"step x\n  wait s timeout 3s -> got\n  sleep 5ms\n  route done\n"))
	want := []plan.Port{{Name: "a", Schema: json.RawMessage(`{"type":"string"}`), Doc: "Who.", Optional: true}}
	if diff := cmp.Diff(want, p.Inputs); diff != "" {
		t.Error(diff)
	}
	if p.Outcomes[0].Status != plan.Failure || p.Signals[0].Name != "s" {
		t.Errorf("%+v %+v", p.Outcomes, p.Signals)
	}
	body := p.Flow.Steps[0].Body
	if body[0].Op != plan.OpWait || body[0].TimeoutMS != 3000 || body[1].DurationMS != 5 {
		t.Errorf("%+v", body)
	}
}
