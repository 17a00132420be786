package syntax

import "fmt"

// The hints of mistakes that only their surroundings explain.
const (
	childHint = "a child has no settings and no block: its time limit is the `timeout` under `workflow` in the child's own document; " +
		"delete this here"
	actionHint  = "settings stand on a line of their own below the action, two spaces deeper: `timeout 30s, retry 2 every 10s`; below them `run`"
	sharedHint  = "settings share one line: `timeout 30s, retry 3 backoff 1s..30s`"
	retryHint   = "the number of retries is written out, as in `retry 3 every 10s`; only a duration may be a const"
	handlerHint = "the block of `on failure` stands below it, two spaces deeper, and ends in a route: `on failure`, then `route x`"
	callHint    = "`timeout` and `node` of a call stand on the line below it, two spaces deeper; `retry` stands below the `action`"
	forkHint    = "a fork runs all items at once: `fork x in xs`, or one after the other: `fork x in xs sequential`; it has no other bound"
	namedHint   = "`join -> xs` binds one list, behind `fork x in xs`; behind a plain `fork` write `join` alone: the names of its branches are bound then"
	stepHint    = "a step takes and gives nothing: it reads the names that were bound before it, and what it binds is read by the steps behind; " +
		"a `subflow` has parameters and a result"
	tryHint    = "there is no `try`: what a step does when it fails stands at its end, in the block of `on failure`, which ends in a route"
	reasonHint = "the reason of a failure cannot be read: write `on failure` alone"
	loopHint   = "a loop carries one value: `loop state = <first value> counting n`; statements in it bind `state` again"
	joinHint   = "write `join -> results`: it gathers what the last statement of each branch gives; where an item may fail, use " +
		"`distribute x in xs`, a step that binds `y`, and a step that opens with `collect y? -> slots`"
	guardHint = "a condition stands in a clause at the end of a step: `outcome a: when <condition>, route x`, then `outcome b: otherwise, route y`"
)

// timed shows where the timeout of a wait stands.
func timed(signal string, t *token) string {
	text := "5m"
	if t.kind == duration || t.kind == word && !reserved(t.text) {
		text = t.text
	}
	return fmt.Sprintf("the timeout of a wait stands in its line, in front of the arrow: `wait %s timeout %s -> answer`", signal, text)
}

// noDefault refuses a default value behind a declared name and its type; term says what the name is.
func (p *parser) noDefault(term string, n Ident, t *TypeRef, expected string) {
	if p.bad || t == nil || p.tok.kind != assign {
		return
	}
	optional := p.text(t.Span)
	if !t.Optional {
		optional += "?"
	}
	hint := fmt.Sprintf("%s has no default: write `%s: %s`, so that it may be left out", term, n.Name, optional)
	switch value := p.peek(); {
	case term == "an input" && value.kind == duration:
		hint = fmt.Sprintf("a duration is no input: delete this line and write `const %s = %s` below the header", n.Name, value.text)
	case term == "an input":
		hint = fmt.Sprintf("an input has no default: write `input %s: %s` and test it by `when %s is present`, or make it a const below the header, "+
			"`const %s = …`", n.Name, optional, n.Name, n.Name)
	case term == "a parameter":
		hint += "; only the parameters of a `command` have one, `command name x=\"text\":`"
	}
	p.fail("AWL1005", p.tok.span, "expected", expected, "found", p.tok.describe(), "hint", hint)
}

// undeclaredHint says what stands for the call of a function that the document does not declare.
func undeclaredHint(owner string) string {
	switch owner {
	case "len", "length", "count", "size":
		return "there are no functions: `xs |> count -> n` counts a list"
	}
	return fmt.Sprintf("nothing is declared as `%s`, and there are no functions: declare it, `action %s(x: String) -> String` below a `worker`, and name "+
		"its arguments", owner, owner)
}

// misplacedHint is what to do about a word that starts no statement where it stands; empty when the catalogue says enough.
func misplacedHint(w, where string) string {
	branches := w == "when" || w == "if" || w == "otherwise" || w == "else" || w == "outcome"
	switch {
	case branches && where == "inside a fork":
		return "a fork has no branches for its items: write `distribute item in items` alone in a step, then steps that end in clauses, then a step " +
			"that opens with `collect x -> xs`; to decide about all of them, write clauses behind the `join`"
	case branches && where == "inside a loop":
		return "a loop has no branches: decide behind it, in clauses at the end of the step, or repeat steps by a backward `route` and `max <n> visits`"
	case branches && where == "inside `on failure`":
		return "`on failure` has no branches: end it with `route next`, and let the step `next` end in clauses"
	case branches && w != "outcome":
		return guardHint
	case w == "on" && where == "inside a fork":
		return "a fork has no `on failure`: write it at the end of the step, where it takes the failure of any branch; where one item may fail, write " +
			"`distribute item in items` alone in a step, steps that bind `x`, then a step that opens with `collect x? -> slots`"
	case w == "on" && where == "inside a loop":
		return "a loop has no `on failure`: write it at the end of the step, behind the loop"
	case w == "on" && where == "inside `on failure`":
		return "a failure inside `on failure` fails the run: end the block with `route next`, and give the step `next` an `on failure` of its own"
	}
	return ""
}

// followsHint says where a statement belongs that stands below what closes a step.
func followsHint(s Stmt, closing string) string {
	r, ok := s.(*Route)
	switch {
	case ok && closing == "`on failure`" && r.Target != nil:
		return fmt.Sprintf("a bare `route` is a statement: put it above `on failure`, or write it as a clause, `outcome done: otherwise, route %s…`",
			r.Target.Name.Name)
	case ok && closing == "an outcome clause":
		return "a bare `route` is a statement and stands above the clauses; what is left over goes into the last one: `outcome rest: otherwise, route …`"
	}
	return "statements come first in a step: move it above the first line that is `on failure`, an `outcome` or `max`"
}
