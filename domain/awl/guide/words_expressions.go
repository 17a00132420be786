package guide

func expressionWords() []word {
	return []word{
		{"and", "both conditions hold", "`a and b`. `b` may read what `a` proves present: `x is present and x.ok`.", "and_expr", "lists"},
		{"or", "one of the conditions holds", "`a or b`. `b` may read what a failed `a` proves: `x is absent or x.ok`.", "expr", "lists"},
		{"not", "the condition does not hold", "`not a`.", "not_expr", "lists"},
		{"is", "tests for absence or emptiness", "`x is present`, `x is absent` for what may be absent; `xs is empty` for lists. Without a subject, in a combinator, it asks the item: `filter(is present)`.", "comparison", "lists"},
		{"empty", "a list without elements", "`xs is empty`; `not (xs is empty)` for the contrary.", "comparison", "lists"},
		{"present", "a value that is there", "`x is present`. Afterwards `x` can be read as its plain type.", "comparison", "lists"},
		{"absent", "a value that is not there", "`x is absent`.", "comparison", "approval"},
		{"filter", "keeps the elements for which a condition holds", "`xs |> filter(.ok) -> good`; `.ok` is a field of the element. `filter(is present)` drops the holes of a tolerant collect.", "combinator", "lists"},
		{"map", "takes a value from each element", "`xs |> map(.file) -> files`; the value is not optional.", "combinator", "lists"},
		{"sort", "orders a list", "`xs |> sort(.score)`, ascending and stable; `sort` alone orders Ints, Floats and Strings.", "combinator", "lists"},
		{"count", "the length of a list", "`xs |> count -> n`, an Int.", "combinator", "lists"},
		{"any", "whether a condition holds for an element", "`xs |> any(.blocking)`, false for an empty list.", "combinator", "lists"},
		{"all", "whether a condition holds for every element", "`xs |> all(.passed)`, true for an empty list.", "combinator", "lists"},
	}
}

// marks are the spellings that are no words.
func marks() []word {
	return []word{
		{"->", "names a result, or gives the type of one", "`call(…) -> x` and `value -> x` bind `x`; `action f() -> T` declares a result. A name is bound once on each way.", "call pipe action", "hello"},
		{"|>", "passes a value on", "`value |> stage |> stage -> x`. A stage is an action or child with one parameter, `.field`, or a combinator. A call does not stand at the head of a chain: bind it first. In brackets and guards only combinators follow.", "pipe stage", "lists"},
		{"?", "may be absent", "`T?` is a field, input or parameter that may be left out. It is tested before it is read: `when x is present, …`. Lists hold no optional elements, and signals, results and outcomes are whole.", "typeref collect", "approval"},
		{"==", "compares", "`==`, `!=` for scalars and enums of one type, `<`, `<=`, `>`, `>=` for two Ints or two Floats. Comparisons do not chain: join them with `and`.", "comparison", "enum"},
		{"+", "joins two Strings or two lists", "Numbers are not added: there is no arithmetic. Let an action compute, or count with `count`, `counting` and `visits`.", "sum", "prompt"},
		{"[]", "a list, or an element of one", "`[a, b]`, `[]`, the type `[T]`, and `xs[0]` with a literal index; out of range fails the step.", "primary postfix typeref", "commands"},
		{"{{}}", "the value of a parameter in a command", "`{{param}}` becomes exactly one argument; a list becomes one argument per element and an absent optional none, so both are words of their own. Records have no argument form.", "body command_line", "commands"},
		{"{workspace_root}", "the server's folder for files", "In commands, `cwd` and `export`: replaced by the server's workspace root.", "directive command_line", "commands"},
		{`"""`, "a text over several lines", "Verbatim, without escapes, up to the next `\"\"\"`.", "primary", "prompt"},
		{"//!", "narration", "Lines above the header that say what the document does. At least one is required.", "narration", "hello"},
		{"///", "documentation", "Lines above an input, signal, outcome, const, type, field, command, worker, action, child, subflow or step. They reach schemas and the console.", "docs", "hello"},
		{"//", "a comment", "Up to the end of the line.", "", "hello"},
	}
}
