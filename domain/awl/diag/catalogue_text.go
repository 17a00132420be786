package diag

// textCodes are the findings of the scanner and the parser.
//
//nolint:funlen // a flat table
func textCodes() []Entry {
	return []Entry{
		{
			"AWL0001", Error, "the document is UTF-8 without a byte order mark",
			"the document is not valid UTF-8 (byte {offset})",
			"the first bad byte", "save the file as plain UTF-8",
		},
		{
			"AWL0002", Error, "no control characters",
			"control character U+{hex} is not allowed",
			"tok", "delete it, or write it as `\\uXXXX` inside a string",
		},
		{
			"AWL0003", Error, "at most 1 MiB",
			"the document has {n} bytes; the limit is 1048576",
			"1:1", "move prompts and data into schema files or actions",
		},
		{
			"AWL0004", Error, "sizes, lengths and depths have limits",
			"{what} exceeds the limit of {limit}",
			"tok over the limit", "shorten or split it",
		},
		{
			"AWL0005", Error, "no tab in indentation",
			"indentation uses a tab",
			"the first tab of the line", "indent with two spaces a level",
		},
		{
			"AWL0006", Error, "two spaces a level, one level at a time",
			"this line is indented by {n} spaces; expected {expected}",
			"first character after the indentation", "align it with its block",
		},
		{
			"AWL0007", Error, "a string ends on its line",
			"this string is never closed",
			"the opening quote", "add `\"`, or use `\"\"\"` for several lines",
		},
		{
			"AWL0008", Error, "known escapes only",
			"`\\{c}` is not an escape",
			"the backslash", "use `\\\"` `\\\\` `\\n` `\\t` `\\r` `\\uXXXX`, or a raw string",
		},
		{
			"AWL0009", Error, "a raw string ends",
			"this raw string is never closed",
			"the opening `\"\"\"`", "add `\"\"\"`",
		},
		{
			"AWL0010", Error, "a JSON body ends",
			"this `{kind}` body is never closed",
			"the opening `{`", "add the missing `}`",
		},
		{
			"AWL0011", Error, "numbers are well formed and fit 64 bits",
			"`{text}` is not a number",
			"tok", "write digits only, or a duration such as `12s`",
		},
		{
			"AWL0012", Error, "no characters outside the language",
			"`{c}` is not part of the language",
			"tok", "delete it; statements end at the line end",
		},
		{
			"AWL0013", Error, "durations from 1ms to 365d",
			"the duration `{text}` is outside 1ms to 365d",
			"tok", "choose a duration in range",
		},
		{
			"AWL0014", Error, "`.` is followed by a field name",
			"expected a field name after `.`",
			"the dot", "write `.field` without a space; the item itself has no name: of plain values, an action chooses",
		},
		{
			"AWL1001", Error, "the document starts with narration",
			"the document has no `//!` narration",
			"1:1", "say in one `//!` line what the workflow does",
		},
		{
			"AWL1002", Error, "narration precedes the header",
			"`//!` is narration and belongs above `workflow`",
			"tok", "use `///` for a declaration, `//` for a comment",
		},
		{
			"AWL1003", Error, "docs attach to a declaration",
			"this doc line attaches to nothing",
			"the doc line", "use `//`, or put it above a declaration",
		},
		{
			"AWL1004", Error, "the header is `workflow` or `worker`",
			"expected `workflow <name>` or `worker <name>`, found {found}",
			"tok", "start with `workflow <name>`",
		},
		{
			"AWL1005", Error, "the grammar",
			"expected {expected}, found {found}",
			"tok", "write {expected} in its place",
		},
		{
			"AWL1006", Error, "reserved words are no names, `AION_…` is no exported variable",
			"`{word}` is a reserved word and cannot be {what}",
			"tok", "choose another name",
		},
		{
			"AWL1007", Error, "inputs, signals, parameters and fields have a type",
			"`{name}` needs a type",
			"the name", "write `{name}: <Type>`",
		},
		{
			"AWL1008", Error, "an outcome declares its type and its status",
			"an outcome reads `outcome <name>: type <Type>, route success|failure`, found {found}",
			"tok", "add the missing part",
		},
		{
			"AWL1009", Error, "brackets close",
			"`{bracket}` is never closed",
			"the opening bracket", "add the closing bracket",
		},
		{
			"AWL1010", Error, "no spelling of another language",
			"`{found}` is not AWL; write {replacement}",
			"tok", "write {replacement} in its place",
		},
		{
			"AWL1011", Error, "arguments are named",
			"arguments are named: write `{param}: {value}`",
			"the value", "name the argument",
		},
		{
			"AWL1012", Error, "a chain ends in a name or a route",
			"this value goes nowhere",
			"first token of the statement", "end with `-> <name>` or `|> route <outcome>`",
		},
		{
			"AWL1013", Error, "a call does not head a chain",
			"a call is not the start of a chain",
			"the `|>`", "bind it first: `{call}(…) -> x`, then `x |> …`",
		},
		{
			"AWL1014", Error, "`->` is followed by a name",
			"`->` needs a name",
			"the arrow", "write `-> <name>`, or drop the arrow",
		},
		{
			"AWL1015", Error, "`wait` binds the payload",
			"`wait {signal}` binds nothing",
			"`wait`", "write `wait {signal} -> <name>`",
		},
		{
			"AWL1016", Error, "a clause has a guard and a route",
			"outcome `{name}` lacks {part}",
			"the clause name", "write `outcome {name}: when <guard>, route <target>`",
		},
		{
			"AWL1017", Error, "statements precede clauses, and `until`/`max`",
			"a statement cannot follow {what}",
			"first token of the statement", "move it up",
		},
		{
			"AWL1018", Error, "blocks have content",
			"expected an indented block under {what}",
			"the keyword", "add the block, two spaces deeper",
		},
		{
			"AWL1019", Error, "parts occur once",
			"a second `{part}`",
			"tok", "keep one",
		},
		{
			"AWL1020", Error, "actions and children declare a result",
			"`{name}` declares no result",
			"the name", "add `-> <Type>`; `-> Nil` when there is none",
		},
		{
			"AWL1021", Error, "settings are complete",
			"`{key}` needs {what}",
			"the setting's keyword; the duration when a range is missing", "write `timeout 30s`, `retry 2 every 10s` or `retry 5 backoff 1s..1m`",
		},
		{
			"AWL1022", Error, "variants carry nothing",
			"variant `{name}` cannot carry a payload",
			"the `(`", "put the payload in a record field",
		},
		{
			"AWL1023", Error, "an index is a literal",
			"an index is a literal integer",
			"the index", "index with a number, or select in an action",
		},
		{
			"AWL1024", Error, "an accessor has an item",
			"`.{name}` has no item to select from",
			"tok", "use it in a combinator or after a value",
		},
		{
			"AWL1025", Error, "a step's `max` counts visits",
			"a step's `max` ends in `visits`",
			"`max`", "write `max <n> visits`; a loop's `max` belongs inside the loop",
		},
		{
			"AWL1026", Error, "a subflow has one outcome without a route",
			"subflow `{name}` needs exactly one `outcome <name>: type <Type>`",
			"the subflow name, or the second outcome's name", "declare one outcome",
		},
		{
			"AWL1027", Error, "declarations stand where they belong",
			"`{what}` is not allowed {where}",
			"tok", "move it to {right_place}",
		},
		{
			"AWL1028", Error, "a worker declares actions",
			"worker `{name}` declares no action",
			"the name", "add an action or delete the worker",
		},
		{
			"AWL1029", Error, "`spawn` binds nothing",
			"a spawned child has no result here",
			"the arrow", "drop `-> {name}`, or call the child to wait for it",
		},
		{
			"AWL1030", Error, "a loop threads one value",
			"a loop reads `loop <name> = <seed> [counting <name>]`",
			"tok in place of `=`; `counting` when its name is missing", "write `loop state = <first value>`, and behind it `counting n` where the passes are counted",
		},
		{
			"AWL1031", Error, "comparisons do not chain; `=` does not compare",
			"{what}",
			"tok", "use `and`, or `==`",
		},
		{
			"AWL1032", Error, "a command has a header ending in `:` and at least one line",
			"command `{name}` {what}",
			"the name", "write `command {name} <params>:` and its lines",
		},
	}
}
