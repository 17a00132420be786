package diag

import "strings"

// advice is the hint of a finding whose catalogue hint cannot say enough: a wrong character or token (AWL0012, AWL1005) and
// a spelling of another language (AWL1010). It shows the construct that was probably meant; "" leaves the catalogue's hint.
func advice(code string, v values) string {
	switch code {
	case "AWL1005":
		if hint := foundAdvice(v.get("found"), v.get("expected")); hint != "" {
			return hint
		}
		return expectedAdvice(v.get("expected"))
	case "AWL0012":
		return strayAdvice(v.get("c"))
	case "AWL1010":
		return foreignAdvice(v.get("found"))
	}
	return ""
}

// strayAdvice is what stands for a mark of another language.
func strayAdvice(c string) string {
	switch c {
	case "-", "/", "%", "^", "--":
		return arithmetic
	case "'", "`", "“", "”", "‘", "’":
		return "texts stand in double quotes: `\"text\"`"
	case "#":
		return "a comment starts with `//`"
	case "$":
		return "there is no interpolation: `\"text \" + x` joins two Strings"
	case "&", "&&":
		return "write `and`"
	case "!":
		return "write `not`, and `!=` between two values"
	}
	return ""
}

const arithmetic = "there is no arithmetic: an action computes; `->` binds a result"

// foundAdvice is what is to be said about a token of another language, whatever was expected in its place.
func foundAdvice(found, expected string) string {
	switch {
	case found == "`?`" && expected != "a type":
		return "`?` stands behind a type, and behind the name that a `collect` gathers; there is no `x?` and no `??`: test `x is present` in " +
			"a clause, `outcome given: when x is present, route …`, and read `x` behind it"
	case found == "`*`" || found == "`+`" && expected != "a value":
		return arithmetic
	case found == "`in`" && expected == "`,`":
		return "there is no `in`: records are asked by `xs |> any(.field == x)`; whether a list holds a plain value, an action tells"
	case (found == "`if`" || found == "`when`") && expected == "`,`":
		return "`otherwise` has no condition: write `outcome name: when <condition>, route <target>`"
	case found == "`(`" && (expected == "`,` or `)`" || expected == "`)`"):
		return "a call is no value: write `act(arg: value) -> x` on a line before, then `x`; there are no functions and no clock"
	case found == "`(`" && expected == "`|>` or `->`":
		return "only `filter(…)`, `map(…)`, `sort(…)`, `any(…)` and `all(…)` take something here; an action is called on a line of its own: `act(arg: value) -> x`"
	case found == "`->`" && expected == "`)`":
		return "in brackets stands an expression on the item, such as `.field`; for a call per item write `fork x in xs`, the call, and `join -> ys`"
	case found == "`{`" && (expected == "a statement" || expected == "a value"):
		return "a record is built by its declared type: `Type(field: value) -> x`"
	case expected == "a value" && (found == "`==`" || found == "`!=`" || found == "`<`" || found == "`>`"):
		return "both sides of a comparison are values; the item of a list has no name of its own: compare a field, `any(.field == x)`"
	}
	return ""
}

// expectedAdvice shows what is written where something else was found.
func expectedAdvice(expected string) string {
	switch expected {
	case "a declaration":
		return "at the left edge stand `const`, `type`, `command`, `worker`, `child`, `subflow` and `step`; statements are indented below a `step`"
	case "a statement":
		return "a statement is a call `act(arg: value) -> x`, a chain `value |> filter(.ok) -> x`, or starts with `route`, `wait`, `sleep`, " +
			"`fork`, `loop`, `spawn`, `distribute`, `sequence`, `collect` or `step`"
	case "end of line":
		return "each statement and declaration has a line of its own, with its block indented below it; delete the rest or move it to the next line"
	case "a value":
		return "a value is a literal, a bound name, `name.field`, `Type(field: value)`, a variant or `[a, b]`; a call is no value: " +
			"bind its result with `-> x` on a line before"
	case "an argument", "`,` or `)`", "`)`":
		return "arguments are `(name: value, other: value)`; a value is no call and no arithmetic"
	case "`,` or `]`", "`]`":
		return "a list is `[a, b]`, a list type is `[T]`, an index is `xs[0]`"
	case "`,` or `}`", "`}`":
		return "a record type is `type Name { field: Type, other: Type? }`"
	case "a type", "`<`", "`>`":
		return "a type is `Bool`, `Int`, `Float`, `String`, `Dir`, a declared type or `[T]`; `?` behind it makes it optional"
	case "`{` or `=`":
		return "write `type Name { field: Type }`, `type Name = One | Two` or `type Name = schema(\"file.json\")`"
	case "`|>` or `->`":
		return "a chain goes on with `|> stage` or ends in `-> name` or `|> route target`; a call needs parentheses: `act(arg: value) -> x`"
	case "a stage":
		return "a stage is an action name, `.field`, or `filter(…)`, `map(…)`, `sort(…)`, `count`, `any(…)`, `all(…)`"
	case "`->`":
		return "`->` names a result: `action act(x: String) -> String`, `wait go -> answer`, `collect x -> xs`"
	case "`join`":
		return "`fork` is followed by its indented branches and, in its own column, by `join` or `join -> results`"
	case "`in`":
		return "write `fork item in items`, `distribute item in items` or `sequence item in items`"
	case "`empty`, `present` or `absent`":
		return "`is` tests `xs is empty`, `x is present` or `x is absent`; instead of `x is not present` write `x is absent`, instead of `xs is not empty` " +
			"`not xs is empty`; other values are compared with `==` and `!=`"
	case "a command, as a string":
		return "write `run \"program {{param}}\"`, or `runs command name` for a declared command"
	case "a duration":
		return "a duration is a number with `ms`, `s`, `m`, `h` or `d`, as in `30s`, or a const that holds one; there is no time of day"
	}
	return expectedWord(expected)
}

// expectedWord is the advice where one of few words may stand.
func expectedWord(expected string) string {
	switch expected {
	case "`timeout`, `input`, `signal` or `outcome`":
		return "below `workflow` stand `timeout 2h`, `input name: Type`, `signal name: Type` and `outcome name: type Type, route success`; " +
			"a document has no schedule: whoever starts its runs keeps the time"
	case "`action`":
		return "below `worker` stand only lines `action name(x: String) -> String`; settings and `run` stand below an action, two spaces deeper"
	case "`node`, `timeout`, `retry`, `run` or `runs`":
		return "below an action stand its settings on one line, `timeout 30s, retry 2 every 10s`, and below them `run \"program {{x}}\"` or `runs command name`"
	case "`outcome` or `step`":
		return "below `subflow` stand one `outcome name: type Type` and its steps"
	case "`node`, `timeout` or `retry`":
		return "settings share one line: `node n, timeout 30s, retry 2 every 10s`"
	case "`visits`":
		return "a step is bounded by `max <n> visits`; the `max` of a loop stands indented below `loop`"
	case "`failure`":
		return "the block of a failed step starts with `on failure`"
	case "`type`":
		return "write `outcome name: type Type`"
	case "a step":
		return "write `step name` and its statements, indented"
	case "`=`":
		return "write `const name = value`, or `export NAME = \"value\"` in a command"
	case "`:`":
		return "write `outcome name: when <condition>, route <target>`"
	case "`,`":
		return "a guard is followed by `, route <target>`"
	}
	if strings.HasSuffix(expected, "'s name") {
		return "a name is one word in lower case, such as `my_name`"
	}
	return ""
}

// foreignAdvice shows the construct of AWL that does what a word of another language does.
func foreignAdvice(found string) string {
	switch found {
	case "about":
		return "document the workflow by `//! text` lines above `workflow`, and a declaration by `/// text` lines above it"
	case "do", "let", "=", "as":
		return "a call names its result behind it: `act(arg: value) -> x`; a value does so too: `value -> x`"
	case "each", "for", "foreach", "parallel":
		return "`fork item in items`, its branch indented, then `join -> results`; add `sequential` behind the list for one at a time"
	case "repeat", "while":
		return "`loop x = seed`, then indented: statements that bind `x`, `until <condition>` and `max <n>`"
	case "finish", "return", "fail", "throw", "output", "error":
		return "`outcome done: type T, route success` (or `route failure`) in the header, and `route done(value)` in a step"
	case "match", "case", "switch":
		return "at the end of a step: `outcome a: when <condition>, route x`, and last `outcome b: otherwise, route y`"
	case "race":
		return "`wait signal timeout 5m -> answer`; the answer is absent when the time ran out"
	case "queue":
		return "actions stand under `worker <name>`, and that name is their queue"
	case "{", "}", "then", "end":
		return "a block is what is indented two spaces deeper; it has no brackets and no end word"
	}
	return ""
}
