package diag

// bodyCodes are the findings about actions, commands and schemas.
//
//nolint:funlen // a flat table
func bodyCodes() []Entry {
	return []Entry{
		{
			"AWL6001", Error, "a command names a program",
			"the command is empty",
			"the string, or the line", "write a program and its arguments",
		},
		{
			"AWL6002", Error, "quotes close",
			"this quote is never closed",
			"the quote", "close it",
		},
		{
			"AWL6003", Error, "holes are `{{name}}`",
			"`{{` opens no valid hole",
			"the `{{`", "write `{{name}}`",
		},
		{
			"AWL6004", Error, "the program is literal",
			"the program cannot come from a parameter",
			"the `{{`", "write the program out",
		},
		{
			"AWL6005", Error, "holes name parameters",
			"no parameter is called `{name}`",
			"the `{{`", "use one of {names}",
		},
		{
			"AWL6006", Error, "holes have an argument form",
			"`{name}` is {type} and has no argument form",
			"the `{{`", "pass its fields as parameters",
		},
		{
			"AWL6007", Error, "list and optional holes are whole words",
			"`{name}` must be a word of its own",
			"the `{{`", "put spaces around it",
		},
		{
			"AWL6008", Error, "the result type fits the capture",
			"capture `{capture}` gives {given}, not {declared}",
			"the result type", "change the type, or add `capture text` or `capture json`",
		},
		{
			"AWL6009", Warning, "values stay out of scripts",
			"the value of `{name}` is read as shell source",
			"the `{{`", "pass it as an argument of the script: `sh -c '… \"$1\" …' sh {{…}}`",
		},
		{
			"AWL6010", Warning, "there is no shell",
			"`{text}` is an ordinary argument; no shell reads this command",
			"the word", "use `sh -c '…'`, or several command lines",
		},
		{
			"AWL6011", Warning, "the server runs bodies",
			"`node` has no effect on an action with a body",
			"`node`", "drop it",
		},
		{
			"AWL6012", Error, "a call pins `node` and `timeout` of an action",
			"{what} cannot be set here",
			"the first offending setting", "write it in the line of settings below the `action` that is called",
		},
		{
			"AWL6013", Error, "1 to 100 retries, rising backoff",
			"{what}",
			"the count, or the first duration", "fix the numbers",
		},
		{
			"AWL6014", Error, "an action supplies its command's parameters",
			"command `{command}` needs `{name}` as {kind}",
			"the command name", "add the parameter to the action",
		},
		{
			"AWL6015", Warning, "parameters are used by the body",
			"`{name}` is never used by the body",
			"the parameter", "use it or delete it",
		},
		{
			"AWL6016", Error, "a worker document implements its actions",
			"action `{name}` has no body",
			"the name", "add `run` or `runs command`",
		},
		{
			"AWL6017", Error, "a worker document declares a worker",
			"`{kind}` does not belong in a worker document",
			"the name", "move it to a workflow document",
		},
		{
			"AWL6018", Error, "`cwd` is absolute",
			"`cwd` starts with `/` or `{workspace_root}`",
			"the string", "start it with `{workspace_root}/`",
		},
		{
			"AWL6019", Warning, "worker documents are served, not deployed",
			"a worker document is served by a worker process",
			"the worker name", "deploy the workflow that calls it",
		},
		{
			"AWL7001", Error, "JSON bodies are JSON",
			"invalid JSON: {detail}",
			"the offending character inside the body", "fix the JSON",
		},
		{
			"AWL7002", Error, "imports exist",
			"schema file `{path}` does not exist",
			"the path string", "create it, or fix the path",
		},
		{
			"AWL7003", Error, "import paths are plain",
			"`{path}` is not a plain relative path to a .json file",
			"the path string", "use a path below the document's folder",
		},
		{
			"AWL7004", Error, "imports are JSON",
			"schema file `{path}` is not valid JSON: {detail}",
			"the path string", "fix the file",
		},
		{
			"AWL7005", Error, "only supported keywords",
			"keyword `{keyword}` cannot be typed",
			"the keyword; the path string of an import", "restructure the schema",
		},
		{
			"AWL7006", Error, "schemas admit no null",
			"a value cannot be `null`; leave the property out of `required`",
			"the keyword; the path string of an import", "drop `null`",
		},
		{
			"AWL7007", Error, "references stay in `$defs`",
			"`{ref}` is not a reference to `#/$defs/…`",
			"the keyword; the path string of an import", "copy the definition into `$defs`",
		},
		{
			"AWL7008", Error, "schemas have a supported type",
			"{what}",
			"the keyword or the schema's `{`; the path string of an import", "give the schema one supported type",
		},
		{
			"AWL7009", Error, "required properties are declared",
			"`required` names `{name}`, which is no property",
			"`required`; the path string of an import", "declare it, or drop the name",
		},
		{
			"AWL7010", Error, "schema limits",
			"schema {what} exceeds the limit of {limit}",
			"the path string or the nested schema", "make it smaller",
		},
		{
			"AWL7011", Error, "imports need the document's folder",
			"imports cannot be resolved: the document has no path",
			"the path string", "check it with its path",
		},
	}
}
