package repair

import (
	"slices"
	"strings"

	"aion/domain/awl/diag"
)

// typos proposes what the lexemes around the finding were meant to be.
func (p *proposer) typos() {
	near := []int{p.i, p.i - 1, p.i + 1}
	if first := p.head(); first < p.i-1 {
		near = append(near, first)
	}
	for _, i := range near {
		t := p.tok(i)
		if t.text == "" {
			continue
		}
		if next := p.tok(i + 1); next.text == t.text {
			p.remove(rankDoubled, i+1)
		}
		p.typo(i)
	}
	if a, b := p.tok(p.i-1), p.tok(p.i); a.word && b.word && a.line == b.line {
		p.add(rankTypo, a.to, b.from, ".")
	}
	for _, i := range []int{p.i - 1, p.i} { // a mark in two pieces
		if a, b := p.tok(i), p.tok(i+1); !a.word && !b.word && b.text != "" && a.line == b.line {
			for _, whole := range []string{"->", "|>", "==", "!=", "<=", ">="} {
				rank := rankTypo
				if whole == a.text {
					rank = rankDoubled
				}
				p.add(rank, a.from, b.to, whole)
			}
		}
	}
}

// typo proposes what a lexeme was meant to be: a word or mark of the language, or a name in its own case.
func (p *proposer) typo(i int) {
	t := p.tok(i)
	for _, other := range meant(t) {
		p.replace(rankTypo, i, other)
	}
	if t.word {
		for _, n := range p.facts.names {
			if n != t.text && folded(n) == folded(t.text) {
				p.replace(rankTypo, i, n)
			}
		}
	}
}

// folded is a name without the difference of case and underscores.
func folded(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }

// meant lists what a lexeme may stand for.
func meant(t lexeme) []string {
	if !t.word {
		return otherMark(t.text)
	}
	for _, k := range keywords() {
		if k != t.text && strings.EqualFold(k, t.text) {
			return []string{k}
		}
	}
	all := otherWord(t.text)
	if len(t.text) > 1 {
		all = append(all, nearest(t.text, keywords())...)
	}
	return all
}

// nearest lists the candidates that a word may be a typing mistake of, the closest first.
func nearest(word string, candidates []string) []string {
	left := slices.DeleteFunc(slices.Clone(candidates), func(n string) bool { return n == word })
	var all []string
	for {
		n := diag.Closest(word, left)
		if n == "" {
			return all
		}
		all = append(all, n)
		left = slices.DeleteFunc(left, func(x string) bool { return x == n })
	}
}

// otherWord is what a word of another language does in AWL.
func otherWord(w string) []string {
	switch strings.ToLower(w) {
	case "return", "goto", "finish", "fail", "throw", "jump", "next":
		return []string{"route"}
	case "else", "default", "elif", "elseif":
		return []string{"otherwise"}
	case "if", "unless", "case":
		return []string{"when"}
	case "for", "foreach", "parallel", "each":
		return []string{"fork"}
	case "repeat", "while":
		return []string{"loop"}
	case "await", "receive":
		return []string{"wait"}
	case "delay":
		return []string{"sleep"}
	case "as", "into", "to":
		return []string{"->"}
	case "task", "activity", "fn", "func", "def", "function":
		return []string{"action"}
	case "record", "struct", "enum":
		return []string{"type"}
	case "let", "var":
		return []string{"const"}
	case "stage", "state", "job":
		return []string{"step"}
	case "depends", "needs", "dependson":
		return []string{"after"}
	case "error":
		return []string{"failure"}
	case "ok":
		return []string{"success"}
	}
	return nil
}

// otherMark is what a mark of another language is in AWL.
func otherMark(m string) []string {
	switch m {
	case "-":
		return []string{"->"}
	case "=>", "→", "⇒", ">", "=", "~", "<-":
		return []string{"->", "==", "=", ":"}
	case "&&", "&":
		return []string{"and"}
	case "||":
		return []string{"or", "|>"}
	case "|":
		return []string{"|>", "or"}
	case "!":
		return []string{"not", "!="}
	case "≠", "<>":
		return []string{"!="}
	case "≤":
		return []string{"<="}
	case "≥":
		return []string{">="}
	case "#", "--":
		return []string{"//"}
	case "==", ":":
		return []string{"=", ":", "==", ","}
	case ";", ".":
		return []string{",", ":"}
	case ",":
		return []string{":", "."}
	case "{", "[":
		return []string{"(", "["}
	case "}", "]":
		return []string{")", "]"}
	case "(":
		return []string{"[", "{"}
	case ")":
		return []string{"]", "}"}
	case "–", "—", "−":
		return []string{"-"}
	}
	return nil
}

// expected proposes the words that the message expected.
func (p *proposer) expected() {
	said, _, ok := strings.Cut(p.d.Message, ", found ")
	if !ok {
		return
	}
	for _, want := range ticks(said) {
		if want == "" || strings.ContainsAny(want, "<…") {
			continue
		}
		p.insert(rankExpected, p.i, want)
		if p.i < len(p.toks) {
			p.replace(rankExpected+1, p.i, want)
		}
	}
}

// dropped proposes to take one of the lexemes around the finding away.
func (p *proposer) dropped() {
	p.remove(rankDropped, p.i)
	p.remove(rankDropped+1, p.i-1)
	p.remove(rankDropped+2, p.i+1)
}

// missing proposes one more mark, keyword or name around the finding.
func (p *proposer) missing() {
	here := []int{p.i}
	if p.tok(p.i-1).line == p.tok(p.i).line {
		here = append(here, p.i-1)
	}
	here = append(here, p.i+1)
	for n, i := range here {
		for _, mark := range []string{":", ",", "(", ")", "->", "=", "|>", "[", "]", "==", "+", ".", "?", "{", "}", "..", `"`} {
			p.insert(rankMissing+2*n, i, mark)
		}
		for _, w := range []string{
			"in", "of", "route", "type", "when", "otherwise", "after", "and", "is", "is present", "timeout", "every", "backoff",
			"retry", "capture", "run", "runs", "command", "failure", "visits", "max", "until", "join", "counting",
			", route", ": type", "-> Nil", "node",
		} {
			p.insert(rankMissing+2*n+1, i, w)
		}
	}
	for _, w := range leaders() {
		p.lead(rankMissing+1, w)
	}
	if p.tok(p.head()).text == "(" {
		for _, name := range p.facts.names {
			p.lead(rankNamed, name)
		}
	}
	p.nameless()
}

// nameless proposes the name that is missing at the finding: one that the text misses elsewhere, or one that it has.
func (p *proposer) nameless() {
	if !p.wantsName() {
		return
	}
	at := min(p.from, len(p.src))
	fresh := p.fresh("other")
	for _, name := range p.unknowns(at, " "+fresh+" ") {
		p.insert(rankExpected, p.i, name)
	}
	if p.tok(p.head()).text == "outcome" && p.d.Code == "AWL1005" {
		p.insert(rankExpected+1, p.i, fresh) // the name of a clause is a label
	}
	for _, name := range p.facts.names {
		p.insert(rankNamed, p.i, name)
	}
}

// leaders are the words that start a line.
func leaders() []string {
	return []string{
		"workflow", "input", "signal", "outcome", "type", "worker", "action", "child", "subflow", "step", "const", "command",
		"fork", "loop", "until", "max", "wait", "sleep", "route", "spawn", "collect", "distribute", "sequence", "join", "on",
		"timeout", "run", "runs", "retry", "node", "cwd", "export",
	}
}

// wantsName says whether the finding is about a name or a value that is missing.
func (p *proposer) wantsName() bool {
	said, _, _ := strings.Cut(p.d.Message, ", found ")
	switch p.d.Code {
	case "AWL1004", "AWL1006", "AWL1014", "AWL1007", "AWL1008", "AWL1024":
		return true
	case "AWL1005":
		return strings.Contains(said, "name") || strings.Contains(said, "a value") || strings.Contains(said, "a type") ||
			strings.Contains(said, "an argument") || strings.Contains(said, "a field") || strings.Contains(said, "a parameter") || strings.Contains(said, "a stage") || strings.Contains(said, "a combinator")
	}
	return false
}
