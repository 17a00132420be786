package awl_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"aion/domain/awl"
	"aion/domain/awl/diag"
)

// advised is a document that somebody wrote who knew other languages: below opening, with one finding, what its hint must
// say, and the text after the hint was followed.
type advised struct{ name, wrong, code, says, right string }

const adviceOpening = `//! A document.
workflow w
  input xs: [String]
  input given: Int?
  input amount: Float
  signal go: String
  outcome done: type String, route success
  outcome sad: type String, route failure
`

const adviceWorker = `
worker k
  action f(x: String) -> String
    timeout 5s
  action g(x: String) -> String
  action n() -> Int
`

const adviceClose = `
step z
  route done("x")
`

// The mistakes of people who knew the card alone, with the advice that mends each.
func advices() []advised {
	return []advised{
		{
			"a default of an input", "  input rounds: Int = 5\n", "AWL1005", "write `input rounds: Int?` and test it by `when rounds is present`",
			"  input rounds: Int?\n",
		},
		{"the default is a const", "  input rounds: Int = 5\n", "AWL1005", "`const rounds = …`", "\nconst rounds = 5\n"},
		{
			"a duration as an input", "  input wait_for: Duration = 2d\n\nstep a\n  sleep wait_for\n", "AWL1005",
			"write `const wait_for = 2d` below the header", "\nconst wait_for = 2d\n\nstep a\n  sleep wait_for\n",
		},
		{
			"a type for durations", "  input wait_for: Duration\n\nstep a\n  sleep wait_for\n", "AWL2005", "`const deadline = 2d`",
			"\nconst wait_for = 2d\n\nstep a\n  sleep wait_for\n",
		},
		{"a type for times", "  input at: Timestamp\n", "AWL2005", "use `String`", "  input at: String\n"},
		{"a default of a signal", "  signal stop: Bool = true\n", "AWL1005", "write `stop: Bool?`", "  signal stop: Bool\n"},
		{"a default of a field", "\ntype R { a: Int = 3 }\n", "AWL1005", "write `a: Int?`", "\ntype R { a: Int? }\n"},
		{
			"a default of a parameter", "\nworker q\n  action h(y: Int = 3) -> Nil\n", "AWL1005", "only the parameters of a `command` have one",
			"\nworker q\n  action h(y: Int?) -> Nil\n",
		},
		{"a value and no type", "  input rounds = 5\n", "AWL1007", "`rounds: <Type>`", "  input rounds: Int\n"},
		{
			"an input as a duration", "\nstep a\n  wait go timeout given -> x\n", "AWL3018", "write `30s`, or declare `const pause = 30s`",
			"\nstep a\n  wait go timeout 30s -> x\n",
		},
		{"a const without its unit", "\nconst c = 7200\n\nstep a\n  sleep c\n", "AWL3018", "`const c = 7200s`", "\nconst c = 7200s\n\nstep a\n  sleep c\n"},
		{"a result as a duration", "\nstep a\n  n() -> m\n  sleep m\n", "AWL3018", "an input or a result is no duration", "\nstep a\n  n() -> m\n  sleep 30s\n"},
		{"a result of an earlier step", "\nstep a\n  n() -> m\n\nstep b\n  sleep m\n", "AWL3018", "declare `const pause = 30s`", "\nconst pause = 30s\n\nstep a\n  n() -> m\n\nstep b\n  sleep pause\n"},
		{
			"a parameter as a duration", "\nworker q\n  action h(y: Int) -> Nil\n    timeout y\n", "AWL3018", "write `30s`",
			"\nworker q\n  action h(y: Int) -> Nil\n    timeout 30s\n",
		},
		{"a duration that nothing declares", "\nstep a\n  sleep pause\n", "AWL2006", "`const pause = 30s`", "\nconst pause = 30s\n\nstep a\n  sleep pause\n"},
		{
			"a duration as a value", "\ntype R { a: Int }\n\nstep a\n  R(a: 30s) -> r\n", "AWL3018", "pass the seconds as an Int, such as `30`",
			"\ntype R { a: Int }\n\nstep a\n  R(a: 30) -> r\n",
		},
		{
			"a timeout below a child", "\nchild c(x: String) -> String\n  timeout 2h\n", "AWL1027", "in the child's own document",
			"\nchild c(x: String) -> String\n",
		},
		{"a timeout under a child", "\nchild c(x: String) -> String\ntimeout 2h\n", "AWL1027", "in the child's own document", "\nchild c(x: String) -> String\n"},
		{"a timeout behind a child", "\nchild c(x: String) -> String, timeout 2h\n", "AWL1005", "in the child's own document", "\nchild c(x: String) -> String\n"},
		{"a timeout behind a child, no comma", "\nchild c(x: String) -> String timeout 2h\n", "AWL1005", "delete this here", "\nchild c(x: String) -> String\n"},
		{
			"a timeout at the call of a child", "\nchild c(x: String) -> String\n\nstep a\n  c(x: \"1\") -> y\n    timeout 2h\n", "AWL6012", "delete it: a child has no settings",
			"\nchild c(x: String) -> String\n\nstep a\n  c(x: \"1\") -> y\n",
		},
		{
			"a timeout at the call of a subflow", "\nsubflow s()\n  outcome o: type Int\n\n  step t\n    route o(1)\n\nstep a\n  s() -> y\n    timeout 2h\n", "AWL6012",
			"a subflow has no settings", "\nsubflow s()\n  outcome o: type Int\n\n  step t\n    route o(1)\n\nstep a\n  s() -> y\n",
		},
		{
			"a timeout below a wait", "\nstep a\n  wait go -> x\n    timeout 5m\n", "AWL1027", "`wait go timeout 5m -> answer`", "\nstep a\n  wait go timeout 5m -> x\n",
		},
		{"a timeout behind a wait", "\nstep a\n  wait go -> x timeout 5m\n", "AWL1005", "`wait go timeout 5m -> answer`", "\nstep a\n  wait go timeout 5m -> x\n"},
		{
			"settings on two lines", "\nworker q\n  action h() -> Nil\n    timeout 30s\n    retry 3 backoff 1s..30s\n", "AWL1005",
			"`timeout 30s, retry 3 backoff 1s..30s`", "\nworker q\n  action h() -> Nil\n    timeout 30s, retry 3 backoff 1s..30s\n",
		},
		{
			"settings behind an action", "\nworker q\n  action h() -> Nil, timeout 30s\n", "AWL1005", "on a line of their own below the action",
			"\nworker q\n  action h() -> Nil\n    timeout 30s\n",
		},
		{
			"settings below the body", "\nworker q\n  action h() -> Nil\n    run \"true\"\n    timeout 30s\n", "AWL1027", "the line above the body",
			"\nworker q\n  action h() -> Nil\n    timeout 30s\n    run \"true\"\n",
		},
		{
			"retries from a const", "\nconst tries = 3\n\nworker q\n  action h() -> Nil\n    retry tries every 5s\n", "AWL1021", "written out, as in `retry 3 every 10s`",
			"\nworker q\n  action h() -> Nil\n    retry 3 every 5s\n",
		},
		{"a schedule", "  schedule \"0 3 * * *\"\n", "AWL1005", "a document has no schedule", ""},
		{"a time of day", "\nstep a\n  sleep until 03\n", "AWL1005", "there is no time of day", "\nstep a\n  sleep 3h\n"},
		{
			"a branch in a step", "\nstep a\n  if amount > 3\n    route sad(\"x\")\n", "AWL1027", "`outcome a: when <condition>, route x`, then `outcome b: otherwise, route y`",
			"\nstep a\n  outcome a: when amount > 3, route sad(\"x\")\n  outcome b: otherwise, route z\n",
		},
		{
			"a condition behind a route", "\nstep a\n  route sad(\"x\") when amount > 3\n", "AWL1005", "`outcome a: when <condition>, route x`",
			"\nstep a\n  outcome a: when amount > 3, route sad(\"x\")\n  outcome b: otherwise, route z\n",
		},
		{
			"a branch in a fork", "\nstep a\n  fork x in xs\n    f(x: x) -> y\n    if y == \"\"\n      g(x: x) -> y\n  join -> ys\n", "AWL1027",
			"write `distribute item in items` alone in a step, then steps that end in clauses, then a step that opens with `collect x -> xs`",
			"\nstep a\n  distribute x in xs\n\nstep b\n  f(x: x) -> y\n\n  outcome again: when y == \"\", route c\n  outcome fine: otherwise, route d\n  max 2 visits\n" +
				"\nstep c\n  g(x: x) -> y\n  route b\n\nstep d\n  collect y -> ys\n",
		},
		{
			"a branch in a loop", "\nstep a\n  loop y = \"\" counting i\n    f(x: y) -> y\n    if y == \"x\"\n      g(x: y) -> y\n    until y == \"z\"\n    max 3\n\n  outcome o: otherwise, route z\n", "AWL1027",
			"decide behind it, in clauses at the end of the step",
			"\nstep a\n  loop y = \"\" counting i\n    f(x: y) -> y\n    until y == \"z\" or y == \"x\"\n    max 3\n\n  outcome p: when y == \"x\", route b\n  outcome o: otherwise, route z\n\nstep b\n  g(x: y) -> q\n",
		},
		{
			"on failure in a fork", "\nstep a\n  fork x in xs\n    f(x: x) -> y\n    on failure\n      route sad(\"x\")\n  join -> ys\n", "AWL1027", "write it at the end of the step",
			"\nstep a\n  fork x in xs\n    f(x: x) -> y\n  join -> ys\n\n  on failure\n    route sad(\"x\")\n",
		},
		{
			"on failure per item", "\nstep a\n  fork x in xs\n    f(x: x) -> y\n    on failure\n      route sad(\"x\")\n  join -> ys\n", "AWL1027",
			"write `distribute item in items` alone in a step, steps that bind `x`, then a step that opens with `collect x? -> slots`",
			"\nstep a\n  distribute x in xs\n\nstep b\n  f(x: x) -> y\n\nstep c\n  collect y? -> slots\n",
		},
		{
			"the reason of a failure", "\nstep a\n  f(x: \"a\") -> y\n\n  on failure e\n    route sad(\"x\")\n", "AWL1005", "write `on failure` alone",
			"\nstep a\n  f(x: \"a\") -> y\n\n  on failure\n    route sad(\"x\")\n",
		},
		{
			"a route below on failure", "\nstep a\n  f(x: \"a\") -> y\n\n  on failure\n    route sad(\"x\")\n\n  route done(y)\n", "AWL1017",
			"or write it as a clause, `outcome done: otherwise, route done…`", "\nstep a\n  f(x: \"a\") -> y\n\n  on failure\n    route z\n\n  outcome done: otherwise, route done(y)\n",
		},
		{
			"a route above on failure", "\nstep a\n  f(x: \"a\") -> y\n\n  on failure\n    route sad(\"x\")\n\n  route done(y)\n", "AWL1017", "put it above `on failure`",
			"\nstep a\n  f(x: \"a\") -> y\n  route done(y)\n\n  on failure\n    route z\n",
		},
		{
			"a bound that may be absent", "\nstep a\n  loop y = \"\" counting i\n    f(x: y) -> y\n    until y == \"z\"\n    max given\n\n  outcome o: otherwise, route z\n", "AWL3006",
			"in a step before this one, write `outcome given: when given is present, route <this step>` and a clause `otherwise`",
			"\nstep first\n  outcome given: when given is present, route a\n  outcome missing: otherwise, route z\n\nstep a\n  loop y = \"\" counting i\n    f(x: y) -> y\n    until y == \"z\"\n" +
				"    max given\n\n  outcome o: otherwise, route z\n",
		},
		{
			"an answer that may be absent", "\nstep a\n  wait go timeout 5m -> x\n  route done(x)\n", "AWL3006", "`when x is present` in a clause of this step",
			"\nstep a\n  wait go timeout 5m -> x\n\n  outcome o: when x is present, route done(x)\n  outcome late: otherwise, route z\n",
		},
		{
			"a field that may be absent", "\ntype R { a: Int? }\n\nworker q\n  action h() -> [R]\n\nstep a\n  h() -> rs\n  rs |> filter(.a > 1) -> big\n", "AWL3006", "`.a is present and …`",
			"\ntype R { a: Int? }\n\nworker q\n  action h() -> [R]\n\nstep a\n  h() -> rs\n  rs |> filter(.a is present and .a > 1) -> big\n",
		},
		{
			"a join of what may fail", "\nstep a\n  fork x in xs\n    f(x: x) -> y\n  join y? -> ys\n", "AWL1005", "`collect y? -> slots`",
			"\nstep a\n  distribute x in xs\n\nstep b\n  f(x: x) -> y\n\nstep c\n  collect y? -> ys\n",
		},
		{"a join with a name", "\nstep a\n  fork x in xs\n    f(x: x) -> y\n  join y -> ys\n", "AWL1005", "write `join -> results`", "\nstep a\n  fork x in xs\n    f(x: x) -> y\n  join -> ys\n"},
		{
			"a default by ??", "\nstep a\n  given ?? 3 -> y\n", "AWL1005", "`outcome given: when x is present, route …`",
			"\nstep a\n  outcome given: when given is present, route b\n  outcome missing: otherwise, route z\n\nstep b\n  given -> y\n",
		},
		{
			"a default by ?? in a call", "\ntype R { a: Int }\n\nstep a\n  R(a: given ?? 3) -> y\n", "AWL1005", "there is no `x?` and no `??`",
			"\ntype R { a: Int }\n\nstep a\n  outcome given: when given is present, route b\n  outcome missing: otherwise, route z\n\nstep b\n  R(a: given) -> y\n",
		},
		{
			"a loop of a counter alone", "\nstep a\n  loop counting i\n    f(x: \"\") -> y\n    until y == \"x\"\n    max 3\n\n  outcome o: otherwise, route z\n", "AWL1030",
			"`loop state = <first value> counting n`", "\nstep a\n  loop y = \"\" counting i\n    f(x: \"\") -> y\n    until y == \"x\"\n    max 3\n\n  outcome o: otherwise, route z\n",
		},
		{"an item without a name", "\nstep a\n  xs |> filter(. == \"a\") |> count -> c\n", "AWL0014", "the item itself has no name", "\nstep a\n  xs |> count -> c\n"},
		{
			"a subflow in a fork", "\nsubflow s(x: String)\n  outcome o: type String\n\n  step t\n    f(x: x) -> o\n    route o\n\nstep a\n  fork x in xs\n    s(x: x) -> y\n  join -> ys\n", "AWL5023",
			"`distribute item in items` alone in a step, call it alone in the step below",
			"\nsubflow s(x: String)\n  outcome o: type String\n\n  step t\n    f(x: x) -> o\n    route o\n\nstep a\n  distribute x in xs\n\nstep b\n  s(x: x) -> y\n\nstep c\n  collect y -> ys\n",
		},
		{
			"an item that routes past its value", "\nstep a\n  distribute x in xs\n\nstep b\n  f(x: x) -> y\n\n  on failure\n    route c\n\nstep c\n  collect y -> ys\n", "AWL5017",
			"drop its `on failure` and write `collect y? -> slots`", "\nstep a\n  distribute x in xs\n\nstep b\n  f(x: x) -> y\n\nstep c\n  collect y? -> slots\n",
		},
		{
			"a region in one step", "\nstep a\n  distribute x in xs\n  f(x: x) -> y\n  collect y -> ys\n", "AWL5010", "`collect` to the start of a third",
			"\nstep a\n  distribute x in xs\n\nstep b\n  f(x: x) -> y\n\nstep c\n  collect y -> ys\n",
		},
		{
			"a number in a text", "\nstep a\n  n() -> m\n  \"m is \" + m -> y\n", "AWL3004", "an action computes and converts",
			"\nworker q\n  action shown(m: Int) -> String\n\nstep a\n  n() -> m\n  shown(m: m) -> s\n  \"m is \" + s -> y\n",
		},
		{"arithmetic", "\nstep a\n  n() -> m\n  m - 1 -> q\n", "AWL0012", "there is no arithmetic", "\nworker q\n  action less(m: Int) -> Int\n\nstep a\n  n() -> m\n  less(m: m) -> q\n"},
		{
			"a condition on plain values", "\nstep a\n  xs |> any(== \"a\") -> q\n", "AWL1005", "compare a field, `any(.field == x)`",
			"\ntype R { s: String }\n\nworker q\n  action h() -> [R]\n\nstep a\n  h() -> rs\n  rs |> any(.s == \"a\") -> q\n",
		},
		{"the length of a list", "\nstep a\n  xs.count -> m\n", "AWL3007", "`xs |> count -> n` counts a list", "\nstep a\n  xs |> count -> m\n"},
		{"a function of a list", "\nstep a\n  len(xs) -> m\n", "AWL1011", "`xs |> count -> n` counts a list", "\nstep a\n  xs |> count -> m\n"},
		{"a function", "\nstep a\n  log(\"x\") -> m\n", "AWL1011", "`action log(x: String) -> String` below a `worker`", "\nworker q\n  action log(x: String) -> String\n\nstep a\n  log(x: \"x\") -> m\n"},
		{
			"a stage that is none", "\nstep a\n  xs |> first -> m\n", "AWL2010", "`action first(…) -> <Type>` below a `worker`",
			"\nworker q\n  action first(xs: [String]) -> String\n\nstep a\n  xs |> first -> m\n",
		},
		{
			"a condition behind else", "\nstep a\n  outcome p: when given is absent, route z\n  outcome q: else if given == 3, route z\n  outcome r: otherwise, route z\n", "AWL1005",
			"`otherwise` has no condition", "\nstep a\n  outcome p: when given is absent, route z\n  outcome q: when given == 3, route z\n  outcome r: otherwise, route z\n",
		},
		{"a bound of a fork", "\nstep a\n  fork x in xs max 5\n    f(x: x)\n  join -> ys\n", "AWL1005", "`fork x in xs sequential`", "\nstep a\n  fork x in xs sequential\n    f(x: x)\n  join -> ys\n"},
		{
			"a join of named branches", "\nstep a\n  fork\n    f(x: \"a\") -> p\n    g(x: \"b\") -> q\n  join -> p, q\n", "AWL1005", "write `join` alone",
			"\nstep a\n  fork\n    f(x: \"a\") -> p\n    g(x: \"b\") -> q\n  join\n",
		},
		{
			"a value in a list", "\nstep a\n  outcome p: when \"a\" in xs, route z\n  outcome q: otherwise, route z\n", "AWL1005", "an action tells",
			"\nworker q\n  action holds(xs: [String], x: String) -> Bool\n\nstep a\n  holds(xs: xs, x: \"a\") -> held\n\n  outcome p: when held, route z\n  outcome q: otherwise, route z\n",
		},
		{"a call per item", "\nstep a\n  xs |> map(x -> f(x: x)) -> q\n", "AWL1005", "write `fork x in xs`, the call, and `join -> ys`", "\nstep a\n  fork x in xs\n    f(x: x)\n  join -> ys\n"},
		{"a call as a value", "\nstep a\n  f(x: g(x: \"a\")) -> q\n", "AWL1005", "write `act(arg: value) -> x` on a line before", "\nstep a\n  g(x: \"a\") -> p\n  f(x: p) -> q\n"},
		{
			"is not", "\nstep a\n  outcome p: when given is not present, route z\n  outcome q: otherwise, route z\n", "AWL1005", "instead of `x is not present` write `x is absent`",
			"\nstep a\n  outcome p: when given is absent, route z\n  outcome q: otherwise, route z\n",
		},
		{
			"a route behind on failure", "\nstep a\n  f(x: \"a\") -> y\n\n  on failure route z\n", "AWL1005", "`on failure` stands below it, two spaces deeper",
			"\nstep a\n  f(x: \"a\") -> y\n\n  on failure\n    route z\n",
		},
		{"a timeout behind a call", "\nstep a\n  f(x: \"a\") -> y timeout 5s\n", "AWL1005", "on the line below it, two spaces deeper", "\nstep a\n  f(x: \"a\") -> y\n    timeout 5s\n"},
		{"parameters of a step", "\nstep a(x: String)\n  f(x: \"a\") -> y\n", "AWL1005", "a step takes and gives nothing", "\nstep a\n  f(x: \"a\") -> y\n"},
		{"a step with a result", "\nstep a -> y\n  f(x: \"a\") -> y\n", "AWL1005", "a step takes and gives nothing", "\nstep a\n  f(x: \"a\") -> y\n"},
		{
			"try", "\nstep a\n  try\n  f(x: \"a\") -> y\n", "AWL1012", "there is no `try`", "\nstep a\n  f(x: \"a\") -> y\n\n  on failure\n    route z\n",
		},
		{
			"a collect of nothing", "\nstep a\n  distribute x in xs\n\nstep b\n  f(x: x) -> y\n\nstep c\n  collect -> ys\n", "AWL1005", "write `collect x -> xs`",
			"\nstep a\n  distribute x in xs\n\nstep b\n  f(x: x) -> y\n\nstep c\n  collect y -> ys\n",
		},
		{
			"a loop without clauses", "\nstep a\n  loop y = \"\" counting i\n    f(x: y) -> y\n    until y == \"z\"\n    max 3\n", "AWL5004", "`outcome ended: when <the condition of until>, route …`",
			"\nstep a\n  loop y = \"\" counting i\n    f(x: y) -> y\n    until y == \"z\"\n    max 3\n\n  outcome ended: when y == \"z\", route z\n  outcome gave_up: otherwise, route z\n",
		},
	}
}

// document completes the middle part of a document.
func (advised) document(middle string) []byte {
	return []byte(adviceOpening + middle + adviceWorker + adviceClose)
}

// A hint lets somebody who knows nothing mend the document at once: it names what the mended text holds, and the mended
// text does not have the finding again.
func TestFollowingAHintMendsTheDocument(t *testing.T) {
	t.Parallel()
	for _, a := range advices() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			found := awl.Check(a.document(a.wrong), awl.Options{}).Diagnostics
			if !slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Code == a.code && strings.Contains(d.Hint, a.says) }) {
				t.Errorf("no %s says %q", a.code, a.says)
				for _, d := range found {
					t.Log(diag.Line("", d), "|", d.Hint)
				}
			}
			if r := awl.Check(a.document(a.right), awl.Options{}); !r.OK {
				t.Errorf("the advice leads to %v", shown(r.Diagnostics))
			}
		})
	}
}

// A fix mends what its finding is about, and does not merely hide it behind another mistake: where a line above is mended
// afterwards, the finding is still gone.
func TestAFixHidesNoFinding(t *testing.T) {
	t.Parallel()
	const bad, good = "  xs |> filter(. == \"a\") -> one\n", "  xs |> count -> one\n"
	mended := func(text []byte) awl.Report {
		return awl.Check(bytes.Replace(text, []byte(bad), []byte(good), 1), awl.Options{})
	}
	for _, a := range advices() {
		src := bytes.Replace(a.document(a.wrong), []byte("\nstep a\n"), []byte("\nstep a\n"+bad), 1)
		before, least := awl.Check(src, awl.Options{}), mended(src)
		for i, d := range before.Diagnostics {
			if d.Fix == nil || d.Code == "AWL0014" {
				continue
			}
			text, _ := diag.Apply(src, before.Diagnostics[i:i+1])
			if after := mended(text); errorsOfReading(after) >= errorsOfReading(least) && ofReading(d.Code) {
				t.Errorf("%s: %s leaves %v of %v", a.name, d.Fix.Title(src), shown(after.Diagnostics), shown(least.Diagnostics))
			}
		}
	}
}

func errorsOfReading(r awl.Report) int {
	n := 0
	for _, d := range r.Diagnostics {
		if d.Severity == diag.Error && ofReading(d.Code) {
			n++
		}
	}
	return n
}

func ofReading(code string) bool { return code < "AWL2" }
