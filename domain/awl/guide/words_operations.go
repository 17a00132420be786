package guide

func operationWords() []word {
	return []word{
		{
			"worker", "a task queue and its actions",
			"`worker <name>` with its actions indented. Actions with a body (`run`, `runs`) are run by the server; the others wait for a worker process that is connected under that name; this version has no way to connect one, so give every action a body. A document that opens with `worker` instead of `workflow` is a contract that a worker process serves.",
			"worker", "retry",
		},
		{
			"action", "something that a worker does",
			"`action <name>(<param>: <Type>, …) -> <Type>`, below a worker. A call names its arguments, and optional ones may be left out: `<name>(<param>: value) -> x`. Calling an action or a child is the only contact with the world.",
			"action params config body call", "hello",
		},
		{
			"run", "the body of an action: one command",
			"`run \"program arg {{param}}\"`, or `\"\"\"…\"\"\"` over several lines. The text is split into words once; `{{param}}` becomes exactly one argument, whatever it contains. There is no shell: `|`, `>`, `$` and `*` are ordinary characters. For a script write `sh -c '… \"$1\" …' name {{param}}`. An exit code other than zero fails the attempt.",
			"body", "hello",
		},
		{
			"runs", "the body of an action: a declared command",
			"`runs command <name>`. The action supplies the command's parameters by name.",
			"body", "commands",
		},
		{
			"command", "a recipe of several command lines",
			"`command <name> one *many +some=…:` and its lines, which run one after another without a shell; the first exit code other than zero ends it. A parameter is one value (with an optional default), `*` a list, `+` a list of at least one.",
			"command cparam directive command_line", "commands",
		},
		{"cwd", "the directory of a command", "`cwd \"…\"`, above the lines of a command. It starts with `/` or `{workspace_root}`.", "directive", "commands"},
		{"export", "an environment variable of a command", "`export NAME = \"…\"`, above the lines of a command. The value is literal but for `{workspace_root}`.", "directive", "commands"},
		{
			"capture", "what of a command's output is the result",
			"Behind `run` or `runs command`: `text` is standard output without trailing line breaks (a String), `lines` the same split at line breaks ([String]), `json` standard output parsed and validated against the result type. Without it, `run` gives `{ exit_code, stdout, stderr }` and `runs command` gives text.",
			"body", "commands",
		},
		{"text", "captures standard output as a String", "`capture text`; the action's result is `String`.", "body", "hello"},
		{"lines", "captures standard output as a list", "`capture lines`; the action's result is `[String]`, and `[]` when nothing was written.", "body", "commands"},
		{"node", "where an action runs", "`node <name>` asks for a worker of that node. It is a setting of an action or a call, and has no effect on an action with a body.", "setting", "retry"},
		{
			"retry", "tries again after a failure",
			"`retry 2 every 10s` allows two retries, ten seconds apart; `retry 5 backoff 1s..1m` doubles the pause from one second to at most one minute. The number is a literal. It stands on the declaration of the action. Without it there is one attempt.",
			"setting", "retry",
		},
		{"every", "the pause of `retry`", "`retry <n> every <duration>`.", "setting", "retry"},
		{"backoff", "the growing pause of `retry`", "`retry <n> backoff <least>..<most>`: the pause doubles with each retry.", "setting", "retry"},
		{
			"child", "another workflow",
			"`child <name>(<params>) -> <Type>` declares a workflow that is deployed on its own: the parameters are its inputs, the type fits a payload of its successes. Called, it is waited for, and its failure fails the step. It has no settings: its time limit is the `timeout` in the header of its own document.",
			"child", "children",
		},
		{"spawn", "starts a child and goes on", "`spawn <child>(<args>)`: nothing is waited for, and the child outlives the run.", "spawn", "children"},
		{
			"subflow", "a container of steps with parameters and one result",
			"`subflow <name>(<params>)`, then `outcome <name>: type <Type>` and steps. It sees its parameters and the consts, nothing else. It is called from a step of its own: `<name>(…) -> x`. It does not recurse.",
			"subflow", "subflow",
		},
		{"id", "belongs to `workflow.id`", "`workflow.id` is the workflow id of the run, a String.", "primary", "commands"},
	}
}
