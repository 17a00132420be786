package graph_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl"
	"aion/domain/awl/graph"
)

var update = flag.Bool("update", false, "rewrite the goldens")

const fixtures = "../testdata"

func read(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func documents(tb testing.TB, kind string) []string {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(fixtures, kind, "*.awl"))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no documents: %v", err)
	}
	return paths
}

func TestGraphsAreTheReviewedOnes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"agent_dev_loop", "distribute_tolerant", "substeps", "order_parent", "fan_out"} {
		g := graph.Of(read(t, filepath.Join(fixtures, "valid", name+".awl")))
		asJSON, err := json.MarshalIndent(g, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		for ext, got := range map[string]string{"json": string(asJSON) + "\n", "dot": g.Dot(), "mermaid": g.Mermaid(), "txt": g.Text()} {
			path := filepath.Join("testdata", name+"."+ext)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if diff := cmp.Diff(string(read(t, path)), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		}
	}
}

// edgeOf is an edge as a plan has it.
type edgeOf struct{ from, to, kind, clause string }

func TestEdgesAreThoseOfThePlan(t *testing.T) {
	t.Parallel()
	o := awl.Options{Import: func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(fixtures, "valid", path)) }}
	for _, path := range documents(t, "valid") {
		src := read(t, path)
		p, _, _ := awl.Compile(src, o)
		if p == nil {
			continue // no workflow, or one that is not run yet
		}
		g := graph.Of(src)
		var want, got []edgeOf
		for _, e := range p.Edges {
			want = append(want, edgeOf{e.From, e.To, e.Kind, e.Clause})
		}
		names, top := map[string]string{}, map[string]bool{}
		for _, n := range g.Nodes {
			names[n.ID] = n.Name
			top[n.ID] = !strings.HasPrefix(n.ID, "~")
		}
		for _, s := range p.Flow.Steps {
			i := slices.IndexFunc(g.Nodes, func(n graph.Node) bool {
				return n.Name == s.Name && !strings.HasPrefix(n.ID, "~") && n.Kind != graph.KindOutcome
			})
			if n := g.Nodes[i]; n.Kind != s.Kind && n.Kind != graph.KindChild || n.Doc != s.Doc || n.Span.Line != s.Line {
				t.Errorf("%s: step %+v is drawn as %+v", path, s.Name, n)
			}
		}
		steps := map[string]bool{}
		for _, s := range p.Flow.Steps {
			steps[s.Name] = true
		}
		for _, e := range g.Edges {
			if !top[e.Source] || !steps[names[e.Source]] || inSubsteps(g, e.Source) {
				continue
			}
			label := e.Label
			if e.Kind == graph.Failure {
				label = ""
			}
			got = append(got, edgeOf{names[e.Source], names[e.Target], e.Kind, label})
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(edgeOf{})); diff != "" {
			t.Errorf("%s (-plan +graph):\n%s", path, diff)
		}
	}
}

// inSubsteps says whether a node stands inside another step.
func inSubsteps(g graph.Graph, id string) bool {
	i := slices.IndexFunc(g.Nodes, func(n graph.Node) bool { return n.ID == id })
	for group := g.Nodes[i].Group; group != ""; {
		j := slices.IndexFunc(g.Groups, func(x graph.Group) bool { return x.ID == group })
		if g.Groups[j].Kind != graph.Region {
			return true
		}
		group = g.Groups[j].Parent
	}
	return false
}

func TestIdsNameWhatStandsThereAndAreUnique(t *testing.T) {
	t.Parallel()
	for _, path := range append(documents(t, "valid"), documents(t, "invalid")...) {
		g := graph.Of(read(t, path))
		nodes, groups, edges := map[string]bool{}, map[string]bool{"": true}, map[string]bool{}
		for _, x := range g.Groups {
			groups[x.ID] = true
		}
		for _, n := range g.Nodes {
			if nodes[n.ID] || n.ID == "" || !groups[n.Group] {
				t.Errorf("%s: node %+v", path, n)
			}
			nodes[n.ID] = true
		}
		for _, e := range g.Edges {
			if edges[e.ID] || !nodes[e.Source] || !nodes[e.Target] || e.ID != e.Source+">"+e.Target+":"+e.Label {
				t.Errorf("%s: edge %+v", path, e)
			}
			edges[e.ID] = true
		}
		for _, x := range g.Groups {
			if !groups[x.Parent] || x.Node != "" && !nodes[x.Node] {
				t.Errorf("%s: group %+v", path, x)
			}
		}
	}
}

func TestIdsOfOthersStayWhenAStepIsAdded(t *testing.T) {
	t.Parallel()
	src := string(read(t, filepath.Join(fixtures, "valid", "agent_dev_loop.awl")))
	with := strings.Replace(src, "step weigh after", "step extra after prepare\n  sleep 1s\n\nstep weigh after", 1)
	have := map[string]bool{}
	for _, n := range graph.Of([]byte(with)).Nodes {
		have[n.ID] = true
	}
	for _, n := range graph.Of([]byte(src)).Nodes {
		if !have[n.ID] {
			t.Errorf("%s is gone", n.ID)
		}
	}
	if !have["extra"] {
		t.Error("the new step has no node")
	}
}

func TestAHalfWrittenDocumentHasAGraph(t *testing.T) {
	t.Parallel()
	src := string(read(t, filepath.Join(fixtures, "valid", "compensation.awl")))
	cut := src[:strings.Index(src, "  outcome paid: otherwise")] + "  outcome paid: othe"
	g := graph.Of([]byte(cut))
	if g.Complete || len(g.Nodes) != 4 || len(g.Edges) == 0 || !strings.Contains(g.Text(), "incomplete") {
		t.Errorf("%+v", g)
	}
	for _, text := range []string{"", "nonsense", "workflow", "\x00\xff", strings.Repeat("[", 1000)} {
		g := graph.Of([]byte(text))
		if g.Nodes == nil || g.Edges == nil || g.Groups == nil {
			t.Errorf("%q: a list is missing", text)
		}
	}
}

func TestTextsInPicturesAreQuoted(t *testing.T) {
	t.Parallel()
	src := "//! x\nworkflow w\n  input xs: [String]\n  outcome done: type Int, route success\n\nworker w\n  action f(x: String) -> Int\n\n" +
		"step a\n  distribute x in [\"a\\\"b <i>\"]\n\nstep b\n  f(x: x) -> n\n\nstep c\n  collect n -> ns\n  route done(1)\n"
	g := graph.Of([]byte(src))
	if got, want := g.Mermaid(), `["distribute x in [#quot;a\#quot;b #lt;i#gt;#quot;]"]`; !strings.Contains(got, want) {
		t.Errorf("%s is missing in\n%s", want, got)
	}
	if got, want := g.Dot(), `label="distribute x in [\"a\\\"b <i>\"]"`; !strings.Contains(got, want) {
		t.Errorf("%s is missing in\n%s", want, got)
	}
}

func FuzzGraph(f *testing.F) {
	for _, path := range documents(f, "valid") {
		f.Add(read(f, path))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		g := graph.Of(src)
		if g.Dot() == "" || g.Mermaid() == "" {
			t.Fatal("no picture")
		}
		g.Text()
		nodes := map[string]bool{}
		for _, n := range g.Nodes {
			if nodes[n.ID] {
				t.Fatalf("two nodes %q", n.ID)
			}
			nodes[n.ID] = true
		}
		for _, e := range g.Edges {
			if !nodes[e.Source] || !nodes[e.Target] {
				t.Fatalf("edge %+v leads nowhere", e)
			}
		}
	})
}
