package syntax_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl/syntax"
)

const opening = "//! Limits.\nworkflow w\n  outcome done: type Nil, route success\n\n"

func TestLimitsAreReportedOnceWhereTheyArePassed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, src string
		want      []string
	}{
		{"brackets", opening + "const x = " + strings.Repeat("(", 65) + "1" + strings.Repeat(")", 65) + "\n", []string{"AWL0004 at 5:75"}},
		{"brackets in limit", opening + "const x = " + strings.Repeat("(", 64) + "1" + strings.Repeat(")", 64) + "\n", nil},
		{"types", opening + "child c(x: " + strings.Repeat("[", 65) + "Int" + strings.Repeat("]", 65) + ") -> Nil\n", []string{"AWL0004 at 5:76"}},
		{"not", opening + "const x = " + strings.Repeat("not ", 65) + "true\n", []string{"AWL0004 at 5:267"}},
		{"json", opening + "const x = json {\"a\": " + strings.Repeat("[", 64) + strings.Repeat("]", 64) + "}\n", []string{"AWL0004 at 5:85"}},
		{"schema depth is not the parser's", opening + "type X = schema {\"a\": " + strings.Repeat("[", 64) + strings.Repeat("]", 64) + "}\n", nil},
		{"identifier once", opening + "const " + strings.Repeat("x", 65) + " = " + strings.Repeat("x", 65) + "\n", []string{"AWL0004 at 5:7"}},
		{"steps", opening + strings.Repeat("step x\n", 502), []string{"AWL0004 at 505:6"}},
		{"declarations", opening + strings.Repeat("const x = 1\n", 1001), []string{"AWL0004 at 1004:7"}},
		{"chain", opening + "const x = 1" + strings.Repeat(" + 1", 1000) + "\n", []string{"AWL0004 at 5:4009"}},
		{"blocks", opening + "step x\n" + staircase(65), []string{"AWL0004 at 70:131"}},
		{"longest duration", opening + "const x = 365d\nconst y = 8760h\nconst z = 1ms\n", nil},
		{"durations", opening + "const x = 366d\nconst y = 0s\nconst z = 99999999999999999999h\n", []string{"AWL0013 at 5:11", "AWL0013 at 6:11", "AWL0013 at 7:11"}},
		{"integers", opening + "const x = 9223372036854775807\nconst y = -9223372036854775808\nconst z = 9223372036854775808\n", []string{"AWL0011 at 7:11"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, ds := syntax.Parse([]byte(tt.src))
			if diff := cmp.Diff(tt.want, say(ds)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// staircase nests n substeps.
func staircase(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "%sstep s%d\n", strings.Repeat("  ", i), i)
	}
	return b.String()
}

func TestTooLargeDocumentsAreNotRead(t *testing.T) {
	t.Parallel()
	d, ds := syntax.Parse([]byte(strings.Repeat("x", syntax.MaxBytes+1)))
	if diff := cmp.Diff([]string{"AWL0003 at 1:1"}, say(ds)); diff != "" || d == nil {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// hostile are documents of a size that repeat one thing in one place.
func hostile(size int, units ...string) map[string]string {
	fill := func(prefix, unit, suffix string) string {
		n := (size - len(prefix) - len(suffix)) / len(unit)
		return prefix + strings.Repeat(unit, n) + suffix
	}
	docs := map[string]string{}
	for _, unit := range units {
		name := fmt.Sprintf("%.12q", unit)
		docs["top "+name] = fill("", unit, "")
		docs["step "+name] = fill(opening+"step x\n  ", unit, "\n")
		docs["const "+name] = fill(opening+"const x = ", unit, "\n")
		docs["list "+name] = fill(opening+"const x = [", unit, "]\n")
		docs["json "+name] = fill(opening+"const x = json { ", unit, " }\n")
		docs["string "+name] = fill(opening+"const x = \"\"\" ", unit, " \"\"\"\n")
		docs["type "+name] = fill(opening+"type X { ", unit, " }\n")
		docs["command "+name] = fill(opening+"command x:\n  ", unit, "\n")
		docs["step lines "+name] = fill(opening+"step x\n", "  "+strings.TrimSuffix(unit, "\n")+"\n", "")
	}
	return docs
}

// fragments are what hostile documents repeat.
func fragments() []string {
	return []string{
		"(", ")", "[", "]", "{", "}", "\n", "//", "//\n", "///\n", "//!\n", "\"", "\"\"\"", "\t", " ", "  \n", ";", "; ", "'", "\x00",
		"\xff", "é", "not ", "- ", "-1", "1.", ".", "..", ".x", "x.", "x ", "x\n", "x,", "x:", "|>", "->", "|", "+", "a+", "a\n  ", "json {",
		"schema(\"x\")", "\\", "\"\\", "\"\\u", "\r", "\r\n", "step x\n", "const x = 1\n", "a(", "a(b:", "[a,", "x |> ", "\"\" ", "1s ", "=",
		"type X {\n", "fork\n", "loop x = 1\n", "command x:\n  y\n", "x: X ", "é'", "finish ", "finish\n",
	}
}

func TestHostileDocumentsEnd(t *testing.T) {
	t.Parallel()
	docs := hostile(2<<10, fragments()...)
	for name, src := range hostile(syntax.MaxBytes, "[", "x,") {
		if strings.HasPrefix(name, "list ") { // one place is enough at full size; BenchmarkHostile has them all
			docs[name+" in full"] = src
		}
	}
	docs["staircase"] = opening + "step x\n" + staircase(1000)
	for _, src := range docs {
		d, ds := syntax.Parse([]byte(src))
		if len(ds) > 1001 {
			t.Errorf("%.100q…: %d findings", src, len(ds))
		}
		if len(ds) == 0 {
			syntax.Print(d)
		}
		syntax.ImportPaths([]byte(src))
	}
}

// BenchmarkHostile shows time and memory of the worst documents that fit the limit of size.
func BenchmarkHostile(b *testing.B) {
	docs := hostile(syntax.MaxBytes, fragments()...)
	names := slices.Sorted(maps.Keys(docs))
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				syntax.Parse([]byte(docs[name]))
			}
		})
	}
}
