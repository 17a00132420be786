package syntax_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
)

// mistakes are documents below opening (four lines), each with its findings. A finding more or less fails.
func mistakes() []struct{ name, src, want string } {
	return []struct{ name, src, want string }{
		{"a bracket left open at a line of a statement", "step a\n  make(a: 1\n  other(b: 2) -> x\n  route done\n", "AWL1009 at 6:7"},
		{"two brackets left open", "step a\n  make(a: [1\n  route done\n", "AWL1009 at 6:7, AWL1009 at 6:11"},
		{"a bracket closed by another kind", "const a = (1, [2)\n", "AWL1005 at 5:13, AWL1009 at 5:15"},
		{"a bracket left open at the end", "const a = [1,\n", "AWL1009 at 5:11"},
		{"a field may be called like a statement", "type T {\n  step: Int,\n  route: String\n}\n", ""},
		{"an open record ends before a declaration", "type T {\n  step: Int,\nstep a\n", "AWL1009 at 5:8"},
		{"a string swallows the bracket of its line only", "step a\n  make(a: \"x) -> b\n  other(b: 2)\n", "AWL0007 at 6:11"},
		{"an unfinished string heads a chain", "step a\n  \"x |> make -> y\n  route done\n", "AWL0007 at 6:3"},
		{"quotes of other languages", "step a\n  make(a: 'x', b: 'y') -> z\n", "AWL0012 at 6:11, AWL0012 at 6:19"},
		{
			"operators of other languages", "step a\n  outcome b: when x && y, route c\n  outcome d: when !x, route c\n  outcome e: when n - 1 > m, route c\n",
			"AWL0012 at 6:21, AWL0012 at 7:19, AWL0012 at 8:21",
		},
		{"braces around statements", "step a {\n  make(a: 1) -> b\n}\nstep c\n}\n", "AWL1010 at 5:8, AWL1010 at 9:1"},
		{
			"a brace with an else", "step a\n  fork {\n    make(a: 1)\n  } else {\n    make(a: 1)\n  }\n  route done\n",
			"AWL1010 at 6:8",
		},
		{
			"four spaces a level", "step a\n    make(a: 1)\n    fork x in xs\n        make(a: x)\n    join\nstep b\n  make(a: 1)\n",
			"AWL0006 at 6:5, AWL0006 at 8:9",
		},
		{"a line too deep, then right", "step a\n  make(a: 1)\n   make(a: 2)\n  make(a: 3)\n", "AWL0006 at 7:4"},
		{"a block that nothing opens", "step a\n  make(a: 1)\n    make(a: 2) -> b\n    b -> c\n  make(a: 3)\n", "AWL0006 at 7:5"},
		{"a block under a const", "const a = 1\n  const b = 2\nconst c = 3\n", "AWL0006 at 6:3"},
		{"indentation by tabs", "step a\n\tmake(a: 1)\n\tfork\n\t\tmake(a: x)\n\tjoin\n", "AWL0005 at 6:1, AWL0005 at 7:1, AWL0005 at 8:1, AWL0005 at 9:1"},
		{"a colon behind a step", "step a:\n  make(1)\n", "AWL1005 at 5:7, AWL1011 at 6:8"},
		{
			"assignments", "step a\n  x = make(a: 1)\n  let y = make(a: 1)\n  make(a: 1) as z\n  do make(a: 1)\n  make(a=1) -> q\n",
			"AWL1010 at 6:5, AWL1010 at 7:3, AWL1010 at 8:14, AWL1010 at 9:3, AWL1011 at 10:10",
		},
		{
			"control flow of other languages", "step a\n  for x in xs\n    make(a: x)\n  if x\n    make(a: x)\n  while x\n  return x\n  match x\n  end\n",
			"AWL1010 at 6:3, AWL1027 at 8:3, AWL1010 at 10:3, AWL1010 at 11:3, AWL1010 at 12:3, AWL1010 at 13:3",
		},
		{"a foreign word that is bound", "const output = 1\nstep a\n  output -> x\n  error -> y\n", "AWL1010 at 8:3"},
		{"a foreign word that is declared", "step a\n  repeat(a: 1) -> x\n  finish(a: 1) -> y\nworker k\n  action repeat(a: Int) -> Int\n", "AWL1010 at 7:3"},
		{"foreign declarations", "about x\nqueue y\nworker k\n  queue z\n", "AWL1010 at 5:1, AWL1010 at 6:1, AWL1010 at 8:3"},
		{
			"types of other languages", "type T { a: Option<String>, b: List(Int), c: Map<String, Int>, d: str?, e: any, f: Array<bool> }\n",
			"AWL1010 at 5:13, AWL1010 at 5:32, AWL1010 at 5:46, AWL1010 at 5:67, AWL1010 at 5:76, AWL1010 at 5:84, AWL1010 at 5:90",
		},
		{"generic names may be declared", "type Map { a: Option }\ntype Option = A | B\n", ""},
		{
			"types that are none", "type A { a: List }\ntype B { b: List<Int }\nchild c(a: , b) -> Int\nchild d(a Int) ->\n",
			"AWL1005 at 5:18, AWL1005 at 6:22, AWL1007 at 7:9, AWL1007 at 7:14, AWL1007 at 8:9",
		},
		{
			"loops", "step a\n  loop s = 1 counting\n    make(a: 1) -> s\n    until true\n    make(a: 2)\n    max 3\n    max 4\n  loop s\n  loop t = 1\n",
			"AWL1030 at 6:14, AWL1017 at 9:5, AWL1019 at 11:5, AWL1030 at 12:9, AWL1018 at 13:3",
		},
		{
			"forks", "step a\n  fork\n    make(a: 1)\n  route x\n  join\n  fork x xs\n    make(1)\n  join\n  join\n",
			"AWL1005 at 8:3, AWL1005 at 10:10, AWL1011 at 11:10, AWL1027 at 13:3",
		},
		{
			"parts of a step", "step a\n  on failure\n    route done\n  on failure\n    outcome x: otherwise, route y\n  on error\n  max 3 visits\n  max 4 visits\n  max visits\n  until x\n",
			"AWL1019 at 8:3, AWL1027 at 9:5, AWL1005 at 10:6, AWL1019 at 12:3, AWL1025 at 13:3, AWL1027 at 14:3",
		},
		{
			"clauses", "step a\n  outcome x: when , route b\n  outcome x: route b\n  outcome x: when a, b\n  outcome x when a, route b\n  outcome x: otherwise route b\n  outcome x: when a route b\n",
			"AWL1016 at 6:11, AWL1016 at 7:11, AWL1016 at 8:11, AWL1005 at 9:13, AWL1005 at 10:24, AWL1005 at 11:21",
		},
		{
			"comparisons", "step a\n  outcome x: when a = 1, route b\n  outcome x: when a is not present, route b\n  outcome x: when a == b is empty, route b\n  outcome x: when is present, route b\n",
			"AWL1031 at 6:21, AWL1005 at 7:24, AWL1031 at 8:26, AWL1005 at 9:19",
		},
		{"null", "step a\n  make(a: null) -> x\n", "AWL3011 at 6:11"},
		{"indexes", "step a\n  xs[n] -> a\n  xs[-1] -> b\n  xs[0 + 1] -> c\n  xs[] -> d\n  xs[0] -> e\n", "AWL1023 at 6:6, AWL1023 at 7:6, AWL1023 at 8:6, AWL1023 at 9:6"},
		{
			"chains", "step a\n  x |> make(a: 1) -> y\n  x |> 3 -> y\n  x -> step\n  -> y\n  x |> route\n  x |> f |> a\n  f(a: 1) |> g -> h\n  x y\n",
			"AWL1005 at 6:12, AWL1005 at 7:8, AWL1006 at 8:8, AWL1005 at 9:3, AWL1005 at 10:13, AWL1012 at 11:3, AWL1013 at 12:11, AWL1005 at 13:5",
		},
		{"calls are statements", "step a\n  route done(value: make(a: 1))\n  route done(1, 2)\n", "AWL1005 at 6:25, AWL1011 at 7:14, AWL1011 at 7:17"},
		{"a stage inside brackets is a combinator", "step a\n  make(a: xs |> other) -> x\n", "AWL1005 at 6:17"},
		{
			"numbers", "const a = 1e5 + 0x10 + 5. + .5 + 1_0 + 2.5s + -3s + 3.x\n",
			"AWL0011 at 5:11, AWL0011 at 5:17, AWL0011 at 5:24, AWL0011 at 5:29, AWL0011 at 5:34, AWL0011 at 5:40, AWL0011 at 5:47",
		},
		{"escapes", "const a = \"\\q\\uD800\\u00e9\\ud83d\\ude00\\u12\"\n", "AWL0008 at 5:12, AWL0008 at 5:14, AWL0008 at 5:38"},
		{"dots", "step a\n  d. value -> x\n  d.1 -> y\n  d.. -> z\n", "AWL0014 at 6:4, AWL0014 at 7:4, AWL1005 at 8:4"},
		{"a body without its end stops before a declaration", "const a = json { \"x\": { }\nstep b\n  make(1)\n", "AWL0010 at 5:16, AWL1011 at 7:8"},
		{
			"settings", "worker k\n  action a() -> Nil\n    timeout 30\n    run \"x\"\n  action b() -> Nil\n    node a\n    timeout 5m\n  action c() -> Nil\n    run \"x\" capture foo\n    timeout 3m\n  action d() -> Nil\n    retry 3 backoff 3s, node\n",
			"AWL1021 at 7:5, AWL1005 at 11:5, AWL1005 at 13:21, AWL1021 at 16:21",
		},
		{
			"bodies", "worker k\n  action a() -> Nil\n    run \"a\"\n    run \"b\"\n    node x\n  action b() -> Nil\n    run a\n  action c() -> Nil\n    runs a\n  action d() -> Nil\n    runs command e capture outcome\n",
			"AWL1019 at 8:5, AWL1027 at 9:5, AWL1005 at 11:9, AWL1005 at 13:10, AWL1005 at 15:28",
		},
		{
			"commands", "command a b=c:\n  x\n   deeper\n  cwd \"y\"\ncommand b\n  x\ncommand c:\ncommand d:\n  cwd \"a\"\n  cwd \"b\"\n  export AION_X = \"1\"\n  export X \"1\"\n  x\n",
			"AWL1005 at 5:13, AWL0006 at 7:4, AWL1027 at 8:3, AWL1032 at 9:9, AWL1032 at 11:9, AWL1019 at 14:3, AWL1006 at 15:10, AWL1005 at 16:12",
		},
		{
			"subflows", "subflow a(step: Int)\n  step x\nsubflow b()\n  outcome o: type Int, route success\n  step x\nsubflow c()\n  outcome o: type Int\nsubflow d()\n  step x\n  outcome o: type Int\n",
			"AWL1026 at 5:9, AWL1006 at 5:11, AWL1026 at 7:9, AWL1005 at 11:22, AWL1027 at 14:3",
		},
		{
			"what belongs elsewhere", "input x: Int\naction a() -> Int\nroute x\nmake(a: 1)\nworkflow v\n  input x: Int\nstep a\n  const b = 1\n  input c: Int\n  action d() -> Int\n  workflow e\n",
			"AWL1027 at 5:1, AWL1027 at 6:1, AWL1027 at 7:1, AWL1005 at 8:1, AWL1019 at 9:1, AWL1027 at 12:3, AWL1027 at 13:3, AWL1027 at 14:3, AWL1027 at 15:3",
		},
		{
			"docs and narration in wrong places", "/// A doc of nothing\nfoo\n/// one\n//! late\n//! later\nstep a\n  /// of a statement\n  /// in two lines\n  make(a: 1)\n/// end\n",
			"AWL1005 at 6:1, AWL1002 at 8:1, AWL1003 at 11:3, AWL1003 at 14:1",
		},
		{"a reserved word is one mistake", "const loop = 1\nstep route\n  make(a: 1) -> max\n  wait signal -> x\n", "AWL1006 at 5:7, AWL1006 at 6:6, AWL1006 at 7:17, AWL1006 at 8:8"},
		{
			"arrows without a name", "step a\n  make(a: 1) ->\n  wait s ->\n  wait s\n  collect x\n  spawn f(a: 1) -> b\n  sleep\n",
			"AWL1014 at 6:14, AWL1014 at 7:10, AWL1015 at 8:3, AWL1005 at 9:12, AWL1029 at 10:17, AWL1005 at 11:8",
		},
	}
}

func TestEveryMistakeIsOneFindingAndReadingGoesOn(t *testing.T) {
	t.Parallel()
	for _, tt := range mistakes() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, ds := syntax.Parse([]byte(opening + tt.src))
			var want []string
			if tt.want != "" {
				want = strings.Split(tt.want, ", ")
			}
			if diff := cmp.Diff(want, say(diag.Sort(ds))); diff != "" {
				t.Errorf("%s\nfindings (-want +got):\n%s", tt.src, diff)
			}
		})
	}
}

func TestDocumentsWithoutATopHaveTheirFindings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, src string
		want      []string
	}{
		{"empty", "", []string{"AWL1001 at 1:1", "AWL1004 at 1:1"}},
		{"narration only", "//! x\n", []string{"AWL1004 at 2:1"}},
		{"declaration first", "//! x\nconst a = 1\nworkflow w\n", []string{"AWL1004 at 2:1"}},
		{"header below the worker", "//! x\nworker k\n  action a() -> Nil\nworkflow w\n", []string{"AWL1027 at 4:1"}},
		{"no name", "//! x\nworkflow\n", []string{"AWL1004 at 2:9"}},
		{"narration too late", "workflow w\n//! x\n", []string{"AWL1002 at 2:1"}},
		{"foreign first line", "about x\n//! x\nworkflow w\n", []string{"AWL1010 at 1:1", "AWL1002 at 2:1"}},
		{"byte order mark", "\uFEFF//! x\nworkflow w\n", []string{"AWL0001 at 1:1"}},
		{"not UTF-8", "//! \xe9\nworkflow w\n// \xe9\n", []string{"AWL0001 at 1:5"}},
		{"control characters", "//! a\x07\rb\nworkflow w // \x00\n", []string{"AWL0002 at 1:6", "AWL0002 at 1:7", "AWL0002 at 2:15"}},
		{"columns count code points", "//! x\nworkflow w\nconst a = \"é😀\" é\n", []string{"AWL0012 at 3:16"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, ds := syntax.Parse([]byte(tt.src))
			if diff := cmp.Diff(tt.want, say(ds)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if d.Header == nil && len(d.Workers) == 0 {
				t.Error("neither a header nor a worker")
			}
		})
	}
}

func TestEveryCodeOfTheTextIsShown(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{"AWL0003": true} // TestTooLargeDocumentsAreNotRead
	note := func(src string) {
		_, ds := syntax.Parse([]byte(src))
		for _, d := range ds {
			shown[d.Code] = true
			if d.Severity != diag.Error || strings.Contains(d.Message, "{x") || d.Message == "" {
				t.Errorf("%s: %q", d.Code, d.Message)
			}
		}
	}
	for _, src := range fixtures(t, invalidDir) {
		note(src)
	}
	note("\xff")
	for _, e := range diag.Catalogue() {
		if e.Code < "AWL2" && !shown[e.Code] {
			t.Errorf("%s is shown by no document", e.Code)
		}
	}
}

func TestMessagesNameWhatIsWrong(t *testing.T) {
	t.Parallel()
	src := opening + "step a\n  make(\"x\", n  +\n    1) -> b\n  route fin(2)\n  Point(3) -> p\n  spawn kid(1) -> k\n" +
		"type Point { left: Int }\nworker k\n  action make(name: String, count: Int) -> Nil\n"
	_, ds := syntax.Parse([]byte(src))
	var got []string
	for _, d := range ds {
		got = append(got, d.Message+" | "+d.Hint)
	}
	want := []string{
		"arguments are named: write `name: \"x\"` | name the argument",
		"arguments are named: write `count: n + 1` | name the argument",
		"arguments are named: write `left: 3` | name the argument",
		"a spawned child has no result here | drop `-> k`, or call the child to wait for it",
		"arguments are named: write `<name>: 1` | nothing is declared as `kid`, and there are no functions: declare it, " +
			"`action kid(x: String) -> String` below a `worker`, and name its arguments",
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestFixesRepairTheDocument(t *testing.T) {
	t.Parallel()
	src := opening + "step a:\n\tmake(a = 1, b=2) -> x;\n  outcome y: when x = 1, route done\n" +
		"type T { a: integer, b: Option<Int>, c: List(Int), d: Array<T> }\n"
	for range 20 {
		_, ds := syntax.Parse([]byte(src))
		if len(ds) == 0 {
			break
		}
		i := slices.IndexFunc(ds, func(d diag.Diagnostic) bool { return d.Fix != nil })
		if i < 0 {
			t.Fatalf("no fix among %v", say(ds))
		}
		f := ds[i].Fix
		src = src[:f.Span.Start.Offset] + f.Text + src[f.Span.End.Offset:]
	}
	want := opening + "step a\n  make(a: 1, b: 2) -> x\n  outcome y: when x == 1, route done\n" +
		"type T { a: Int, b: Int?, c: [Int], d: [T] }\n"
	if diff := cmp.Diff(want, src); diff != "" {
		t.Errorf("repaired (-want +got):\n%s", diff)
	}
}
