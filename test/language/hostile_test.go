//go:build !race

// What is allocated tells nothing under the race detector: test/run.sh runs these without it.

package language_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"aion/domain/awl"
	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
)

// hostile is a text that an author never meant. green says that it is odd, but right.
type hostile struct {
	name, src string
	green     bool
}

func hostiles() []hostile {
	good := plainTop + "step s\n  go(n: n) -> x\n  route done(x)\n"
	mib := 1 << 20
	fill := func(unit string) string { return strings.Repeat(unit, (mib-len(plainTop)-64)/len(unit)) }
	return []hostile{
		{name: "crlf", src: strings.ReplaceAll(good, "\n", "\r\n"), green: true},
		{name: "tab between tokens", src: strings.Replace(good, "go(n: n) -> x", "go(n:\tn)\t->\tx", 1), green: true},
		{name: "bom", src: "\ufeff" + good},
		{name: "lone cr", src: strings.Replace(good, "\n  go", "\r  go", 1)},
		{name: "all cr", src: strings.ReplaceAll(good, "\n", "\r")},
		{name: "tab indentation", src: strings.ReplaceAll(good, "\n  ", "\n\t")},
		{name: "no-break spaces as indentation", src: strings.ReplaceAll(good, "\n  ", "\n\u00a0\u00a0")},
		{name: "ideographic spaces", src: strings.ReplaceAll(good, "\n  ", "\n\u3000")},
		{name: "vertical tabs and form feeds", src: strings.ReplaceAll(good, "\n  ", "\n\v\f")},
		{name: "line separators", src: strings.ReplaceAll(good, "\n", "\u2028")},
		{name: "next line characters", src: strings.ReplaceAll(good, "\n", "\u0085")},
		{name: "zero width spaces", src: strings.ReplaceAll(good, "go(", "g\u200bo(")},
		{name: "right-to-left override", src: strings.ReplaceAll(good, "go(n: n)", "go(n: \u202en)")},
		{name: "wide digits and letters", src: strings.ReplaceAll(good, "done(x)", "done(\uff11)")},
		{name: "no utf-8", src: good + "// \xff\xfe"},
		{name: "an encoded surrogate", src: good + "// \xed\xa0\x80"},
		{name: "an overlong slash", src: good + "// \xc0\xaf"},
		{name: "a lone surrogate escape", src: strings.Replace(good, "go(n: n) -> x", `"\ud800" -> y`, 1)},
		{name: "two low surrogates", src: strings.Replace(good, "go(n: n) -> x", `"\udc00\udc00" -> y`, 1)},
		{name: "nul", src: strings.Replace(good, "go(n: n)", "go(n:\x00n)", 1)},
		{name: "empty", src: ""},
		{name: "only a bom", src: "\ufeff"},
		{name: "unclosed string", src: plainTop + "step s\n  \"abc -> x\n  route done(n)\n"},
		{name: "unclosed raw string", src: plainTop + "step s\n  \"\"\"abc -> x\n  route done(n)\n"},
		{name: "unclosed json", src: plainTop + "step s\n  json { \"a\": [ -> x\n  route done(n)\n"},
		{name: "unclosed call", src: plainTop + "step s\n  go(n: (n -> x\n  route done(n)\n"},
		{name: "unclosed record", src: plainTop + "type R { a: [Int\n\nstep s\n  route done(n)\n"},
		{name: "unclosed schema", src: plainTop + "type R = schema { \"type\": \"object\"\n\nstep s\n  route done(n)\n"},
		{name: "unclosed hole", src: strings.Replace(good, "-> Int\n\nstep", "-> Int\n    run \"echo {{n\" capture json\n\nstep", 1)},
		{name: "everything unclosed", src: "//! x\nworkflow w(\n  input n: [List<Int\n  outcome done: type {\n\nstep s after (\n  [go(n: json { \"\"\"\n"},
		{name: "over a mebibyte", src: good + strings.Repeat("// more\n", mib/8)},
		{name: "open parentheses", src: plainTop + "step s\n  " + fill("(")},
		{name: "open brackets", src: plainTop + "step s\n  " + fill("[")},
		{name: "open braces", src: plainTop + "type T " + fill("{")},
		{name: "open json", src: plainTop + "const c = json " + fill("{")},
		{name: "open lists of types", src: plainTop + "type T { a: " + fill("[")},
		{name: "angle brackets", src: plainTop + "type T { a: " + fill("List<")},
		{name: "closed brackets", src: plainTop + "step s\n  " + fill(")]}")},
		{name: "quotes", src: plainTop + "step s\n  " + fill(`"`)},
		{name: "raw quotes", src: plainTop + "step s\n  " + fill(`""" `)},
		{name: "pipes", src: plainTop + "step s\n  n" + fill(" |> count")},
		{name: "accessors", src: plainTop + "step s\n  n" + fill(".a")},
		{name: "nots", src: plainTop + "step s\n  route done(" + fill("not ")},
		{name: "sums", src: plainTop + "step s\n  \"a\"" + fill(` + "a"`) + " -> x\n  route done(n)\n"},
		{name: "minus signs", src: plainTop + "step s\n  route done(" + fill("-")},
		{name: "one long name", src: plainTop + "step " + fill("s") + "\n  route done(n)\n"},
		{name: "one long number", src: plainTop + "step s\n  route done(" + fill("9") + ")\n"},
		{name: "deep indentation", src: plainTop + "step s\n" + staircase(1400)},
		{name: "blank lines", src: plainTop + fill("\n") + "step s\n  route done(n)\n", green: true},
		{name: "spaces at line ends", src: plainTop + "step s" + fill(" ") + "\n  route done(n)\n", green: true},
		{name: "comments", src: plainTop + fill("// c\n") + "step s\n  route done(n)\n", green: true},
		{name: "docs of nothing", src: plainTop + fill("/// c\n")},
		{name: "narrations", src: fill("//! c\n") + good[len("//! x\n"):], green: true},
		{name: "errors in every line", src: plainTop + "step s\n" + fill("  ? ? ?\n")},
		{name: "steps of one name", src: plainTop + fill("step s\n")},
		{name: "500 steps", src: chain(500), green: true},
		{name: "501 steps", src: chain(501)},
		{name: "a step that waits for 499", src: fan(498), green: true},
		{name: "a type that holds itself", src: plainTop + "type T { t: T }\n\nstep s\n  route done(n)\n"},
		{name: "types that hold each other", src: plainTop + "type T { u: U }\ntype U { t: T }\n\nstep s\n  route done(n)\n"},
		{name: "types that double", src: doubling(400), green: true},
		{name: "schemas that double", src: schemaDoubling(60), green: true},
		{name: "a schema of brackets", src: plainTop + "type T = schema " + fill(`{"items":`)},
		{name: "a schema that refers to itself", src: plainTop + "type T = schema {\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/A\"}},\"$defs\":{\"A\":{\"$ref\":\"#/$defs/A\"}}}\n\nstep s\n  route done(n)\n"},
		{name: "a schema with a pattern that backtracks", src: plainTop + `type T = schema {"type":"object","properties":{"a":{"type":"string","pattern":"^(a+)+$"}}}` + "\n\nstep s\n  route done(n)\n", green: true},
		{name: "a schema with a pattern too large", src: plainTop + `type T = schema {"type":"object","properties":{"a":{"type":"string","pattern":"` + strings.Repeat("(a{1000}){1000}", 10) + `"}}}` + "\n\nstep s\n  route done(n)\n"},
		{name: "a schema with a repeated key", src: plainTop + `type T = schema {"type":"object","type":"string"}` + "\n\nstep s\n  route done(n)\n"},
		{name: "consts that double", src: constDoubling(40)},
	}
}

func staircase(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", 2*i) + "step s\n")
		if b.Len() > 1<<20-4096 {
			break
		}
	}
	return b.String()
}

func chain(n int) string {
	var b strings.Builder
	b.WriteString(plainTop)
	for i := range n - 1 {
		fmt.Fprintf(&b, "step s%d\n  go(n: n) -> x%d\n\n", i, i)
	}
	b.WriteString("step last\n  route done(x3)\n")
	return b.String()
}

func fan(n int) string {
	var b strings.Builder
	b.WriteString(plainTop + "step root\n\n")
	var names []string
	for i := range n {
		fmt.Fprintf(&b, "step s%d after root\n  go(n: n) -> x%d\n\n", i, i)
		names = append(names, fmt.Sprint("s", i))
	}
	fmt.Fprintf(&b, "step last after %s\n  route done(x3)\n", strings.Join(names, ", "))
	return b.String()
}

func doubling(n int) string {
	var b strings.Builder
	b.WriteString(plainTop + "type T0 { a: Int }\n")
	for i := range n {
		fmt.Fprintf(&b, "type T%d { a: T%d, b: T%d }\n", i+1, i, i)
	}
	fmt.Fprintf(&b, "\nchild make() -> T%d\nchild take(t: T%d) -> Int\n\nstep s\n  make() -> t\n  take(t: t) -> x\n  route done(x)\n", n, n)
	return b.String()
}

func schemaDoubling(n int) string {
	var defs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"D%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/D%d"},"b":{"$ref":"#/$defs/D%d"}}}`, i+1, i, i))
	}
	return plainTop + fmt.Sprintf(`type T = schema {"type":"object","properties":{"a":{"$ref":"#/$defs/D%d"}},"$defs":{"D0":{"type":"object","properties":{}},%s}}`,
		n, strings.Join(defs, ",")) + "\n\nchild take(t: T) -> Int\nchild make() -> T\n\nstep s\n  make() -> t\n  take(t: t) -> x\n  route done(x)\n"
}

func constDoubling(n int) string {
	var b strings.Builder
	b.WriteString(plainTop + "const c0 = \"xxxxxxxxxxxxxxxx\"\n")
	for i := range n {
		fmt.Fprintf(&b, "const c%d = c%d + c%d\n", i+1, i, i)
	}
	fmt.Fprintf(&b, "\nstep s\n  c%d -> x\n  route done(n)\n", n)
	return b.String()
}

// report 85, report 87, report 88, awl 2.1: whatever the text, the answer is a finding in its place or a plan, and the work
// is bounded. What is allocated stands for the work: at most 256 MB, and the clock is not asked.
func TestHostileDocumentsGetTheirFindings(t *testing.T) { //nolint:paralleltest // it measures allocations
	for _, h := range hostiles() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, r, err := awl.Compile([]byte(h.src), awl.Options{Import: func(string) ([]byte, error) { return []byte(h.src), nil }})
		text, found := awl.Format([]byte(h.src))
		runtime.ReadMemStats(&after)
		if testing.Verbose() {
			t.Logf("%s: %d MB, %s", h.name, (after.TotalAlloc-before.TotalAlloc)>>20, shown(r.Diagnostics))
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
			t.Errorf("%s: %d MB were allocated", h.name, n>>20)
		}
		if (p != nil) != (err == nil) || (p != nil) != h.green || r.OK != h.green {
			t.Errorf("%s: ok %v, %v: %v", h.name, r.OK, err, shown(r.Diagnostics))
		}
		if !h.green && len(r.Diagnostics) == 0 {
			t.Errorf("%s has no finding", h.name)
		}
		if p != nil {
			if _, err := plan.Encode(p); err != nil {
				t.Errorf("%s: %v", h.name, err)
			}
		}
		inside(t, h, r.Diagnostics)
		inside(t, h, found)
		if h.green && text == nil {
			t.Errorf("%s is not formatted", h.name)
		}
	}
}

func shown(list []diag.Diagnostic) string {
	var b strings.Builder
	for i, d := range list {
		if i == 3 {
			fmt.Fprintf(&b, "… %d in all", len(list))
			break
		}
		fmt.Fprintf(&b, "%d:%d %s %.80s; ", d.Span.Start.Line, d.Span.Start.Column, d.Code, d.Message)
	}
	return b.String()
}

// inside holds findings to the text: every place exists in it, counted in characters (report 87).
func inside(t *testing.T, h hostile, list []diag.Diagnostic) {
	t.Helper()
	if len(list) > 100 {
		t.Errorf("%s: %d findings", h.name, len(list))
	}
	lines := strings.Split(strings.ReplaceAll(h.src, "\r\n", "\n"), "\n")
	for _, d := range list {
		for _, at := range []diag.Pos{d.Span.Start, d.Span.End} {
			if at.Line < 1 || at.Line > len(lines) || at.Column < 1 || at.Column > utf8.RuneCountInString(lines[at.Line-1])+1 {
				t.Errorf("%s: %s stands at %d:%d, outside the text", h.name, d.Code, at.Line, at.Column)
				return
			}
		}
		if d.Message == "" || len(d.Message) > 2000 {
			t.Errorf("%s: %s has a message of %d bytes", h.name, d.Code, len(d.Message))
		}
	}
}
