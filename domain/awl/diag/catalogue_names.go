package diag

// nameCodes are the findings about names and types.
//
//nolint:funlen // a flat table
func nameCodes() []Entry {
	return []Entry{
		{
			"AWL2001", Error, "values are snake_case; exported variables are UPPER_CASE",
			"`{name}` must be snake_case",
			"the name", "rename it to `{suggestion}`",
		},
		{
			"AWL2002", Error, "types and variants are TitleCase",
			"`{name}` must be TitleCase",
			"the name", "rename it to `{suggestion}`",
		},
		{
			"AWL2003", Error, "one declaration per name",
			"duplicate {kind} `{name}`; first declared on line {line}",
			"the second name", "rename or delete one",
		},
		{
			"AWL2004", Error, "builtin types are not redeclared",
			"`{name}` is a builtin type",
			"the name", "choose another name",
		},
		{
			"AWL2005", Error, "types are declared",
			"unknown type `{name}`",
			"tok", "declare it, or use {closest}",
		},
		{
			"AWL2006", Error, "names are bound",
			"nothing binds `{name}` here",
			"tok", "bind it first, as an `input`, a `const` or by `-> {name}`, or use {closest}",
		},
		{
			"AWL2007", Error, "names are bound on every path",
			"`{name}` is bound on some paths into this step, not on all",
			"tok", "bind it on every path, or read it where it is certain",
		},
		{
			"AWL2008", Error, "one binding per path",
			"`{name}` is already bound",
			"the second name", "choose another name",
		},
		{
			"AWL2009", Error, "bindings do not hide consts; consts do not hide inputs and signals",
			"`{name}` hides the {kind} of that name",
			"the name", "rename it",
		},
		{
			"AWL2010", Error, "calls are declared",
			"no action, child or subflow is called `{name}`",
			"tok", "declare it, `action {name}(…) -> <Type>` below a `worker`; the only functions are `filter`, `map`, `sort`, `count`, `any` and `all`, or use {closest}",
		},
		{
			"AWL2011", Error, "signals are declared",
			"no signal is called `{name}`",
			"tok", "add `signal {name}: <Type>` to the header",
		},
		{
			"AWL2012", Error, "route targets exist",
			"no step or outcome is called `{name}`",
			"tok", "add it, or use {closest}",
		},
		{
			"AWL2013", Error, "`after` names steps of the same flow",
			"no step is called `{name}`",
			"tok", "add it, or use {closest}",
		},
		{
			"AWL2014", Error, "fields exist",
			"`{type}` has no field `{name}`",
			"the accessor", "use one of {fields}",
		},
		{
			"AWL2015", Error, "variants exist",
			"`{enum}` has no variant `{name}`",
			"tok", "use one of {variants}",
		},
		{
			"AWL2016", Error, "arguments exist",
			"`{owner}` has no {term} `{name}`",
			"the argument name", "use one of {names}",
		},
		{
			"AWL2017", Error, "required arguments are given",
			"`{owner}` needs `{name}`",
			"the name of the call, record or target", "add `{name}: <value>`",
		},
		{
			"AWL2018", Error, "an argument is given once",
			"`{name}` is given twice",
			"the second name", "keep one",
		},
		{
			"AWL2019", Error, "`spawn` starts a child",
			"`{name}` is an action; `spawn` starts a child",
			"tok", "call it, or declare it as `child`",
		},
		{
			"AWL2020", Error, "commands are declared",
			"no command is called `{name}`",
			"tok", "declare `command {name} …:`",
		},
		{
			"AWL2021", Error, "steps and outcomes share a namespace; so do actions, children and subflows",
			"`{name}` is also {what}",
			"the later name", "rename one",
		},
		{
			"AWL2022", Error, "`workflow.id` is the only workflow value",
			"`workflow` is not a value",
			"`workflow`, or the accessor", "write `workflow.id`",
		},
		{
			"AWL2023", Error, "`visits` is read in the clauses of a bounded step",
			"`visits` is not available here",
			"tok", "it is read in the clauses of a step that ends in `max <n> visits`, and nowhere else",
		},
		{
			"AWL2024", Error, "consts are not cyclic",
			"const `{name}` is defined by itself",
			"the reference that closes the cycle", "break the cycle",
		},
		{
			"AWL2025", Error, "consts are known at compile time",
			"a const cannot use {what}",
			"tok", "use literals, other consts, `json`, `schema of` and `+`",
		},
		{
			"AWL2026", Warning, "declarations are used",
			"{kind} `{name}` is never used",
			"the name", "use it or delete it",
		},
		{
			"AWL2027", Error, "parallel steps bind different names",
			"`{name}` is bound by two steps that run in parallel",
			"the name of the joining step", "rename one binding",
		},
		{
			"AWL2028", Error, "a variant without context is unique",
			"variant `{name}` belongs to {enums}",
			"tok", "use it where the type is known",
		},
		{
			"AWL3001", Error, "values fit",
			"{position} expects {expected}, found {found}",
			"the value; the stage or target name in a chain", "pass {expected}; where a value has to be converted, an action does it",
		},
		{
			"AWL3002", Error, "conditions are Bool",
			"{what} needs Bool, found {found}",
			"the expression", "compare it with something",
		},
		{
			"AWL3003", Error, "comparisons have like operands",
			"`{op}` cannot compare {left} with {right}",
			"the operator", "compare values of one type",
		},
		{
			"AWL3004", Error, "`+` joins Strings or lists",
			"`+` joins two Strings or two lists of one type, found {left} and {right}",
			"the operator", "an action computes and converts: declare one, and bind its result",
		},
		{
			"AWL3005", Error, "`is empty` asks lists, `is present` asks optionals",
			"`is {word}` asks {wanted}, found {found}",
			"the subject", "drop the test, or test something else",
		},
		{
			"AWL3006", Error, "absent values are tested first",
			"`{path}` may be absent",
			"the accessor or value that is read", "guard it: `when {path} is present` in a clause of this step, or of one before it; read it behind that clause only",
		},
		{
			"AWL3007", Error, "only records have fields",
			"{found} has no fields",
			"the accessor", "read the value itself",
		},
		{
			"AWL3008", Error, "only lists are indexed",
			"{found} cannot be indexed",
			"the index", "index a list",
		},
		{
			"AWL3009", Error, "combinators work on lists",
			"`{name}` needs a list, found {found}",
			"the combinator", "start from a list",
		},
		{
			"AWL3010", Error, "combinator arguments fit",
			"`{name}` {what}",
			"the argument, or the combinator when it is missing",
			"write `filter(<condition>)`, `map(<value>)`, `sort(<key>)` or `sort`, `count`, `any(<condition>)`, `all(<condition>)`",
		},
		{
			"AWL3011", Error, "there is no null",
			"there is no `null`; leave an absent value out",
			"tok", "leave the field out",
		},
		{
			"AWL3012", Error, "list elements are not optional",
			"list elements cannot be absent",
			"the element type", "write `[T]`, or `[T]?` when the whole list may be absent",
		},
		{
			"AWL3013", Error, "list elements have one type",
			"list elements have one type: found {first} and {found}",
			"the element", "split the list",
		},
		{
			"AWL3014", Error, "joining paths agree",
			"`{name}` arrives as {first} on one path and as {found} on another",
			"the step name", "use two names",
		},
		{
			"AWL3015", Error, "a rebound name keeps its type",
			"`{name}` is carried as {first}; it cannot become {found}",
			"the name", "bind another name",
		},
		{
			"AWL3016", Error, "fan-out needs a list",
			"`{what} … in` needs a list, found {found}",
			"the expression", "pass a list",
		},
		{
			"AWL3017", Error, "bounds are non-negative Ints",
			"`max` needs an Int, found {found}",
			"the expression", "give an Int",
		},
		{
			"AWL3018", Error, "durations stand in duration positions",
			"a duration is not a value here; `{name}` is not a duration",
			"tok", "pass the seconds as an Int, such as `30`; write `30s`, or declare `const pause = 30s` and write `pause`: an input or a result is no duration",
		},
		{
			"AWL3019", Error, "records do not contain themselves",
			"type `{name}` contains itself",
			"the type name", "go through a list or `?`",
		},
		{
			"AWL3020", Warning, "a Nil result is not bound",
			"`{name}` is bound to nothing",
			"the name", "drop `-> {name}`",
		},
		{
			"AWL3021", Error, "Nil is a result type only",
			"`Nil` is only a result",
			"tok", "leave the field or parameter out",
		},
		{
			"AWL3022", Error, "only records are constructed",
			"`{name}` cannot be constructed",
			"the type name", "write a literal or a variant",
		},
		{
			"AWL3023", Error, "a stage takes one value",
			"`{name}` takes {n} arguments and cannot be a stage",
			"the stage", "call it with named arguments",
		},
		{
			"AWL3024", Error, "signals, results and outcome types are whole values",
			"a {position} is a whole value and cannot be optional",
			"the type name", "use a record with an optional field",
		},
	}
}
