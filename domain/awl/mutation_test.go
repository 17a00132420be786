package awl_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"aion/domain/awl"
	"aion/domain/awl/diag"
)

// piece is a token of a document, read well enough to damage it.
type piece struct {
	text     string
	from, to int
	line     int
}

// pieces reads the tokens of a document outside of comments, command lines and JSON bodies, whose insides are other
// languages.
func pieces(src string) []piece {
	var all []piece
	inCommand, inBody := false, false
	offset := 0
	for n, line := range strings.SplitAfter(src, "\n") {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "command "):
			inCommand = true
		case line != "" && line[0] != ' ' && line[0] != '\n':
			inCommand = false
		}
		skip := strings.HasPrefix(text, "//") || inCommand || inBody
		inBody = inBody != (strings.Count(line, `"""`)%2 == 1)
		if strings.HasSuffix(text, "{") && (strings.Contains(text, "json {") || strings.Contains(text, "schema {")) {
			inBody, skip = true, true
		}
		if inBody && strings.HasPrefix(line, "}") {
			inBody = false
		}
		if !skip && !strings.Contains(line, `"""`) && !strings.Contains(line, "{ \"") {
			all = append(all, cut(line, offset, n+1)...)
		}
		offset += len(line)
	}
	return all
}

func cut(line string, offset, n int) []piece {
	var all []piece
	for i := 0; i < len(line); {
		j := i + 1
		switch c := line[i]; {
		case c == ' ' || c == '\n':
			i++
			continue
		case strings.HasPrefix(line[i:], "//"):
			return all
		case c == '"':
			for j < len(line) && line[j] != '"' {
				if line[j] == '\\' {
					j++
				}
				j++
			}
			j++
		case wordByte(c) || c == '-' && wordByte(line[i+1]):
			for j < len(line) && wordByte(line[j]) {
				j++
			}
			if '0' <= c && c <= '9' {
				for j < len(line) && (wordByte(line[j]) || line[j] == '.' && line[j+1] != '.' && wordByte(line[j+1])) {
					j++
				}
			}
		default:
			for _, mark := range []string{"->", "|>", "==", "!=", "<=", ">=", ".."} {
				if strings.HasPrefix(line[i:], mark) {
					j = i + 2
				}
			}
		}
		all = append(all, piece{line[i:j], offset + i, offset + j, n})
		i = j
	}
	return all
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// without takes a token away, and keeps the space that parts its neighbours: none at the start of a line.
func without(src string, p piece) string {
	before, after := src[:p.from], src[p.to:]
	start := strings.HasSuffix(strings.TrimRight(before, " "), "\n") || strings.TrimSpace(before) == ""
	switch {
	case start:
		after = strings.TrimLeft(after, " ")
	case wordByte(before[len(before)-1]) && after != "" && wordByte(after[0]):
		after = " " + after
	}
	return before + after
}

// fault is one way to damage a token: it gives the new text, or the old one when it does not apply.
type fault struct {
	kind   string
	damage func(r *rand.Rand, all []piece, i int) string
}

func faults() []fault {
	return []fault{
		{"dropped", drop},
		{"doubled", func(_ *rand.Rand, all []piece, i int) string { return all[i].text + " " + all[i].text }},
		{"misspelt", misspell},
		{"foreign", foreign},
		{"exchanged", exchange},
		{"recased", recase},
	}
}

// drop takes a token away; not the `?` of a type, without which it is another correct type.
func drop(_ *rand.Rand, all []piece, i int) string {
	if all[i].text == "?" {
		return "?"
	}
	return ""
}

// misspell changes a letter of a word that is used, not declared: a mistake in a declaration shows where it is used.
func misspell(r *rand.Rand, all []piece, i int) string {
	w := all[i].text
	if len(w) < 3 || !wordByte(w[0]) || '0' <= w[0] && w[0] <= '9' || declares(all, i) {
		return w
	}
	at := 1 + r.IntN(len(w)-2)
	switch r.IntN(4) {
	case 0:
		return w[:at] + w[at+1:]
	case 1:
		return w[:at] + w[at+1:at+2] + w[at:at+1] + w[at+2:]
	case 2:
		return w[:at] + w[at:at+1] + w[at:]
	default:
		return w[:at] + "x" + w[at+1:]
	}
}

// declares says whether a word may be a declaration: the first of its name, or one behind a word that binds.
func declares(all []piece, i int) bool {
	if i > 0 && slices.Contains([]string{
		"workflow", "input", "signal", "outcome", "type", "worker", "action", "child", "subflow", "step", "const", "command", "->", "loop",
		"counting", "fork", "distribute", "sequence", "node",
	}, all[i-1].text) {
		return true
	}
	return i+1 < len(all) && all[i+1].text == ":" || i > 1 && all[i-1].text == "|" || i > 1 && all[i-1].text == "="
}

// foreign writes a token as another language does.
func foreign(_ *rand.Rand, all []piece, i int) string {
	others := map[string]string{
		"String": "string", "Int": "int", "Bool": "boolean", "Float": "float", "->": "=>", "|>": "|", "==": "=", "and": "&&", "or": "||",
		"not": "!", "route": "return", "fork": "for", "otherwise": "default", "true": "True", "false": "False", ":": "=", "step": "stage",
		"loop": "while", "wait": "await", "action": "task", "type": "struct", "sleep": "delay", "const": "let", "after": "needs", "!=": "<>",
		"collect": "gather", "timeout": "deadline", "success": "ok", "failure": "error",
	}
	w := all[i].text
	if o, ok := others[w]; ok {
		return o
	}
	if strings.HasPrefix(w, `"`) && !strings.ContainsAny(w, `'\`) {
		return "'" + strings.Trim(w, `"`) + "'"
	}
	return w
}

// exchange writes another mark.
func exchange(r *rand.Rand, all []piece, i int) string {
	others := map[string][]string{
		"(": {"[", "{"}, ")": {"]", "}"}, "[": {"(", "{"}, "]": {")", "}"}, ",": {";", "."}, ":": {"=", ","}, "->": {"-", ">", "="},
		"|>": {">", "|", "->"}, "==": {"=", "==="}, ".": {",", " "}, "{": {"(", "["}, "}": {")", "]"},
	}
	if o := others[all[i].text]; len(o) > 0 {
		return o[r.IntN(len(o))]
	}
	return all[i].text
}

// recase writes a word in the other case, or a name of two words as another language does.
func recase(_ *rand.Rand, all []piece, i int) string {
	w := all[i].text
	if !wordByte(w[0]) || '0' <= w[0] && w[0] <= '9' || declares(all, i) {
		return w
	}
	if a, b, ok := strings.Cut(w, "_"); ok && b != "" {
		return a + strings.ToUpper(b[:1]) + b[1:]
	}
	if 'A' <= w[0] && w[0] <= 'Z' {
		return strings.ToLower(w[:1]) + w[1:]
	}
	return strings.ToUpper(w[:1]) + w[1:]
}

// near says whether a finding lies inside the damaged token or next to it. Next to it are the two tokens on either side,
// and, as the findings that the table of codes places there, the first word of its line and the partner of a bracket.
func near(d diag.Diagnostic, all []piece, i, grown int) bool {
	at := d.Span.Start.Offset
	if at > all[i].from {
		at = max(all[i].from, at-grown)
	}
	from, to := all[max(i-2, 0)].from, all[min(i+2, len(all)-1)].to
	return from <= at && at <= to || d.Span.Start.Line == all[i].line || d.Code == "AWL1009" || d.Code == "AWL1018" || d.Code == "AWL1020" ||
		d.Code == "AWL1016" && d.Span.Start.Line == all[i].line-1
}

// tally counts what came of the faults of one kind.
type tally struct{ faults, harmless, close, fixable, green, restored int }

// Must-show of the language: single faults in green documents.
func TestEverySingleFaultIsFoundWhereItIs(t *testing.T) {
	t.Parallel()
	n := 10_000
	switch {
	case os.Getenv("AION_SOAK") != "":
		n = 100_000
	case raceEnabled: // test/run.sh runs this without the race detector too
		n = 500
	}
	type seed struct {
		name           string
		src, canonical string
		all            []piece
		o              awl.Options
	}
	var seeds []seed
	add := func(name string, src []byte, o awl.Options) {
		if awl.Check(src, o).OK && !strings.Contains(name, "loose") {
			canonical, _ := awl.Format(src)
			seeds = append(seeds, seed{name, string(src), string(canonical), pieces(string(src)), o})
		}
	}
	for name, src := range documents(t, validDir) {
		add(name, src, awl.Options{Import: importer(validDir)})
	}
	for name, src := range documents(t, filepath.Join("guide", "examples")) {
		add("guide/"+name, src, awl.Options{})
	}
	slices.SortFunc(seeds, func(a, b seed) int { return strings.Compare(a.name, b.name) })
	r := rand.New(rand.NewPCG(1, 2))
	tallies := map[string]*tally{}
	for done := 0; done < n; {
		s := seeds[r.IntN(len(seeds))]
		f := faults()[r.IntN(len(faults()))]
		i := r.IntN(len(s.all))
		text := f.damage(r, s.all, i)
		if text == s.all[i].text {
			continue
		}
		k := tallies[f.kind]
		if k == nil {
			k = &tally{}
			tallies[f.kind] = k
		}
		damaged := s.src[:s.all[i].from] + text + s.src[s.all[i].to:]
		if text == "" {
			damaged = without(s.src, s.all[i])
		}
		_, rep, _ := awl.Compile([]byte(damaged), s.o)
		if rep.OK { // another correct document
			k.harmless++
			continue
		}
		done++
		k.faults++
		var errs []diag.Diagnostic
		for _, d := range rep.Diagnostics {
			if d.Severity == diag.Error {
				errs = append(errs, d)
			}
		}
		where := fmt.Sprintf("%s:%d: %q became %q", s.name, s.all[i].line, s.all[i].text, text)
		if slices.ContainsFunc(errs, func(d diag.Diagnostic) bool { return near(d, s.all, i, len(text)-len(s.all[i].text)) }) {
			k.close++
		} else {
			t.Logf("%s: %v", where, errs)
		}
		fixed, made, after := awl.Fix([]byte(damaged), s.o)
		if len(made) > 0 {
			k.fixable++
		}
		if after.OK {
			k.green++
		} else if testing.Verbose() {
			t.Logf("%s\n%s  made %v\n  left %v", where, diag.Line(s.name, errs[0]), made, shown(after.Diagnostics))
		}
		if text, _ := awl.Format(fixed); after.OK && string(text) == s.canonical {
			k.restored++
		}
	}
	report(t, tallies)
}

func report(t *testing.T, tallies map[string]*tally) {
	t.Helper()
	var kinds []string
	var sum tally
	for kind, k := range tallies {
		kinds = append(kinds, kind)
		sum.faults += k.faults
		sum.harmless += k.harmless
		sum.close += k.close
		sum.fixable += k.fixable
		sum.green += k.green
		sum.restored += k.restored
	}
	sort.Strings(kinds)
	line := func(kind string, k *tally) {
		share := func(n int) float64 { return 100 * float64(n) / float64(k.faults) }
		t.Logf("%-10s %5d faults, %5.1f %% found in place, %5.1f %% with a fix, %5.1f %% green by it, %5.1f %% as before it (%d changes were no fault)",
			kind, k.faults, share(k.close), share(k.fixable), share(k.green), share(k.restored), k.harmless)
	}
	for _, kind := range kinds {
		line(kind, tallies[kind])
	}
	line("all", &sum)
	if sum.close != sum.faults {
		t.Errorf("%d faults are not found where they are", sum.faults-sum.close)
	}
	if sum.green*100 < sum.faults*80 {
		t.Errorf("the fixes turn %d of %d green", sum.green, sum.faults)
	}
}
