package guide

// word is a row of the table: rules and example name productions of the grammar and an example document.
type word struct {
	word, line, meaning, rules, example string
}

func documentWords() []word {
	return []word{
		{
			"workflow", "names the document's workflow, and `workflow.id` is the id of its run",
			"`workflow <name>` is the first line below the narration. Its block holds `timeout`, inputs, signals and outcomes; one outcome and one step are the least. `workflow.id` is a String, the same for every generation of a run: use it for file names and keys.",
			"header item", "commands",
		},
		{
			"input", "a value that a run starts with",
			"`input <name>: <Type>`. Every input is a name that all steps can read. A `?` behind the type makes it one that may be left out; there are no defaults.",
			"item", "hello",
		},
		{
			"signal", "a message that a running workflow accepts",
			"`signal <name>: <Type>` declares it; `wait <name> -> x` takes one. Signals are kept from the start of the run until a `wait` takes them, in the order of their arrival; one of the wrong type is refused.",
			"item wait", "approval",
		},
		{
			"outcome", "a way to end, or a guarded way out of a step",
			"In the header `outcome <name>: type <Type>, route success` (or `route failure`) declares an ending with its payload. At the end of a step `outcome <name>: when <condition>, route <target>` is a clause: clauses are tried in order, and the first whose guard holds is taken. They must cover every case: end with `otherwise`, or name every variant of an enum. In a subflow `outcome <name>: type <Type>` is its one result. As a capture it is the default: exit code and both texts of a command.",
			"item clause subflow", "approval",
		},
		{
			"success", "an outcome that completes the run",
			"`route success` behind an outcome's type: a run that ends there has the status Completed.",
			"item", "approval",
		},
		{
			"failure", "an outcome that fails the run; with `on`, the block of a failed step",
			"`route failure` behind an outcome's type: a run that ends there has the status Failed, with the outcome and its payload as the reason. Reaching it is no error and triggers no `on failure`.",
			"item on_failure", "approval",
		},
		{
			"timeout", "bounds a workflow, an attempt or a wait",
			"In the header the time that the whole run may take, its waits included (default 1h). On an action, or below a call, the time of one attempt; without it an attempt is unbounded. Behind `wait <signal>` how long to wait: the bound name is absent when the time ran out. A duration is a literal or a const, and never an input or a result.",
			"item setting wait", "approval",
		},
		{
			"const", "a name for a value known before any run",
			"`const <name> = <value>`: literals, lists, `json { … }`, `schema of Type`, durations, other consts, and `+` of these. Steps, actions and subflows can read it.",
			"const", "prompt",
		},
	}
}

func typeWords() []word {
	return []word{
		{
			"type", "declares a record, an enum or a schema; names the type of an outcome",
			"`type Name { field: Type, other: Type? }` is a record, `type Name = One | Two` an enum, `type Name = schema { … }` or `schema(\"file.json\")` a type read from JSON Schema. Types are compared by structure. Only records are constructed: `Name(field: value)`.",
			"type record field enum item", "enum",
		},
		{
			"schema", "a type from JSON Schema, or the JSON Schema of a type",
			"`type T = schema { … }` and `type T = schema(\"file.json\")` read a type from a schema: objects, arrays, strings, numbers, booleans, string enums and `$ref` within. `schema of T` is the schema of a type as compact JSON text, made for a model's output contract.",
			"type schema_src primary", "prompt",
		},
		{
			"json", "JSON text in a document, or standard output read as JSON",
			"`json { … }` is a String: the body as it stands, which must be valid JSON. `capture json` parses the standard output of a body and validates it against the action's result type.",
			"primary body", "prompt",
		},
		{
			"of", "belongs to `schema of Type`",
			"`schema of Type` is the JSON Schema of a declared type as a String.",
			"primary", "prompt",
		},
		{"Bool", "true or false", "The type of conditions. JSON: true, false.", "typeref", "fan_out"},
		{"Int", "a 64-bit integer", "JSON: an integer number. There is no arithmetic; compare with `<`, `==` and the like, count with `count`.", "typeref", "fan_out"},
		{"Float", "a number", "JSON: a number. An integer literal is a Float where a Float is expected; an Int value is not.", "typeref", "enum"},
		{"String", "a text", "JSON: a string. `+` joins two.", "typeref", "hello"},
		{"Dir", "a handle of a directory", "The handle of a directory that is passed between workers. It comes from inputs and results only; JSON: a string.", "typeref", "snapshot"},
		{"Nil", "nothing", "The result of an action or child that gives nothing, and the type of an outcome without payload (`route <outcome>`). It is no type of a field or parameter.", "typeref", "fan_out"},
		{"List", "another spelling of `[T]`", "`List<T>` is read and printed as `[T]`. The elements of a list are never optional.", "typeref", "tolerated"},
		{"null", "no value of the language", "There is no `null`: an absent field or argument is left out, and `is present` and `is absent` test it.", "primary", "tolerated"},
		{"true", "the Bool that holds", "A literal.", "primary", "enum"},
		{"false", "the Bool that does not hold", "A literal.", "primary", "enum"},
	}
}
