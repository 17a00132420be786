package diag

import "strings"

// advice is the hint of a finding whose catalogue hint cannot say enough: a wrong token (AWL1005) and a spelling of
// another language (AWL1010). It shows the construct that was probably meant; "" leaves the catalogue's hint.
func advice(code string, v values) string {
	switch code {
	case "AWL1005":
		return expectedAdvice(v.get("expected"))
	case "AWL1010":
		return foreignAdvice(v.get("found"))
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
		return "`is` tests `xs is empty`, `x is present` or `x is absent`; other values are compared with `==`"
	case "a command, as a string":
		return "write `run \"program {{param}}\"`, or `runs command name` for a declared command"
	case "a duration":
		return "a duration is a number with `ms`, `s`, `m`, `h` or `d`, as in `30s`, or a const that holds one"
	}
	return expectedWord(expected)
}

// expectedWord is the advice where one of few words may stand.
func expectedWord(expected string) string {
	switch expected {
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
