package repair

import (
	"regexp"
	"slices"
	"strings"
)

// ofTypes proposes for findings about types.
func (p *proposer) ofTypes() {
	value := p.src[p.from:p.to]
	switch p.d.Code {
	case "AWL3001":
		p.otherValue(p.from, p.to)
		p.add(rankExpected, p.to, p.to, " |> count")
		p.someField(p.to)
	case "AWL3002":
		p.add(rankSaid, p.to, p.to, " is present")
		p.add(rankSaid+1, p.to, p.to, " is empty")
		p.someField(p.to)
	case "AWL3003", "AWL3004":
		for _, i := range []int{p.i - 1, p.i + 1} {
			p.otherValue(p.tok(i).from, p.tok(i).to)
			p.someField(p.tok(i).to)
		}
	case "AWL3005":
		p.otherTest()
	case "AWL3006":
		p.guard()
	case "AWL3007", "AWL3008":
		if !strings.Contains(p.d.Hint, "computes it") && !strings.Contains(p.d.Hint, "counts a list") { // more is meant than the value
			p.add(rankSaid, p.from, p.to, "")
		}
		for i := p.i; i <= p.i+1; i++ { // the index, with its brackets
			if p.tok(i).text == "]" {
				p.add(rankSaid, p.tok(i-2).from, p.tok(i).to, "")
			}
		}
	case "AWL3011":
		p.null()
	case "AWL3012", "AWL3024":
		if at := strings.IndexByte(p.src[p.from:], '?'); at >= 0 && at <= len(value)+1 {
			p.add(rankSaid, p.from+at, p.from+at+1, "")
		}
	case "AWL3016":
		p.someField(p.to)
	case "AWL3020":
		if p.tok(p.i-1).text == "->" {
			p.add(rankSaid, p.tok(p.i-2).to, p.to, "")
		}
	case "AWL3018":
		p.add(rankSaid, p.from, p.to, strings.TrimRight(value, "mshd"))
	}
}

var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// otherValue writes a literal, or a value, as one of another type.
func (p *proposer) otherValue(from, to int) {
	if from >= to {
		return
	}
	value := p.src[from:to]
	inner := strings.Trim(value, `"`)
	switch {
	case inner != value && (number.MatchString(inner) || inner == "true" || inner == "false"):
		p.add(rankSaid, from, to, inner)
	case inner != value && isTitle(inner):
		p.add(rankSaid, from, to, inner)
	case number.MatchString(value), value == "true", value == "false":
		p.add(rankSaid, from, to, `"`+value+`"`)
		p.add(rankSaid, from, to, strings.TrimSuffix(value, ".0"))
	}
	p.add(rankSaid+1, from, to, "["+value+"]")
	if strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]") {
		p.add(rankSaid+1, from, to, value[1:len(value)-1])
	}
}

func isTitle(s string) bool {
	return s != "" && s[0] >= 'A' && s[0] <= 'Z' && span(s, isWordByte) == len(s)
}

// someField reads a field of a value; one of them alone may fit.
func (p *proposer) someField(at int) {
	var all []string
	for _, t := range p.facts.doc.Types {
		for _, f := range p.facts.fields[t.Name.Name] {
			if !slices.Contains(all, f) && len(all) < maxNames {
				all = append(all, f)
				p.add(rankNamed, at, at, "."+f)
			}
		}
	}
}

// otherTest asks a value what can be asked of it.
func (p *proposer) otherTest() {
	for i := p.i; i <= p.i+4; i++ {
		if p.tok(i).text != "is" {
			continue
		}
		word := p.tok(i + 1)
		other := map[string][]string{"empty": {"absent"}, "absent": {"empty"}}[word.text]
		for _, w := range other {
			p.add(rankSaid, word.from, word.to, w)
		}
		if word.text == "empty" {
			p.add(rankSaid, p.tok(i).from, word.to, `== ""`)
		}
		return
	}
}

// guard tests a value for presence before it is read.
func (p *proposer) guard() {
	said := ticks(p.d.Message)
	if len(said) == 0 {
		return
	}
	path := said[0]
	test := path + " is present and "
	from, _ := p.line(p.d.Span.Start.Line)
	before := p.src[from:p.to]
	if i := strings.LastIndex(before, "when "); i >= 0 && !strings.Contains(before[i:], ", route") {
		p.add(rankSaid, from+i+len("when "), from+i+len("when "), test)
	}
	if i := strings.LastIndex(before, path); i >= 0 {
		p.add(rankSaid+1, from+i, from+i, test)
	}
	if i := strings.LastIndex(before, "until "); i >= 0 {
		p.add(rankSaid, from+i+len("until "), from+i+len("until "), test)
	}
}

// null takes `null` away: the argument that it is the value of, or the comparison with it.
func (p *proposer) null() {
	switch before := p.tok(p.i - 1); before.text {
	case ":":
		q := *p
		q.list, q.i, q.from = nil, p.i-2, p.tok(p.i-2).from
		q.argument(rankSaid)
		p.list = append(p.list, q.list...)
	case "==":
		p.add(rankSaid, before.from, p.to, "is absent")
	case "!=":
		p.add(rankSaid, before.from, p.to, "is present")
	}
}
