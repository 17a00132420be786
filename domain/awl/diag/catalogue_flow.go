package diag

// flowCodes are the findings about flow, loops, regions, forks, subflows and failures.
//
//nolint:funlen // a flat table
func flowCodes() []Entry {
	return []Entry{
		{
			"AWL4001", Error, "`after` is acyclic",
			"steps wait for each other: {cycle}",
			"the first written step of the cycle", "remove one `after`; repeat with `loop` or a backward route",
		},
		{
			"AWL4002", Error, "steps are reachable",
			"step `{name}` is never reached",
			"the step name", "route to it, or delete it",
		},
		{
			"AWL4003", Error, "the last step ends the run",
			"step `{name}` is the last one and never routes",
			"the step name", "end it with `route <outcome>`",
		},
		{
			"AWL4004", Error, "a finished step leads on",
			"nothing follows step `{name}`",
			"the step name", "route from it, or let a step declare `after {name}`",
		},
		{
			"AWL4005", Error, "every cycle is bounded",
			"this cycle has no bound",
			"the backward route's target; the first step when no route closes it", "add `max <n> visits` to a step in the cycle",
		},
		{
			"AWL4006", Error, "a route ends its list",
			"this statement is never reached",
			"first token of the statement", "move it above the route",
		},
		{
			"AWL4007", Error, "clauses can fire",
			"the clauses of step `{step}` never fire: its body always routes",
			"the first clause name", "drop the body's route or the clauses",
		},
		{
			"AWL4008", Error, "clauses are exhaustive",
			"the clauses of step `{name}` do not cover every case",
			"the step name", "add `outcome <name>: otherwise, route <target>`",
		},
		{
			"AWL4009", Error, "enum clauses are exhaustive",
			"the clauses of step `{name}` miss {variants}",
			"the step name", "add a clause, or `otherwise`",
		},
		{
			"AWL4010", Error, "`otherwise` is last",
			"clauses after `otherwise` never fire",
			"`otherwise`", "move it to the end",
		},
		{
			"AWL4011", Error, "steps take no payload",
			"`{name}` is a step and takes no payload",
			"the target", "bind the value, then `route {name}`",
		},
		{
			"AWL4012", Error, "a bare route needs a binding of its name",
			"`route {name}` needs a binding called `{name}`",
			"the target", "pass a payload: `route {name}(…)`",
		},
		{
			"AWL4013", Error, "payload forms fit",
			"outcome `{name}` carries {type}; {what}",
			"the target", "use `route {name}(<value>)`",
		},
		{
			"AWL4014", Error, "substeps stay in their step",
			"`{name}` is outside step `{parent}`",
			"the target", "route to a sibling or to an outcome of `{parent}`",
		},
		{
			"AWL4015", Error, "the first step starts the run",
			"the first step cannot wait for another",
			"the first `after` name", "move the step down, or drop `after`",
		},
		{
			"AWL4016", Error, "a dependency is not also a route",
			"`{name}` already routes here; `after {name}` would run the step a second time",
			"the `after` name", "keep the route or the `after`",
		},
		{
			"AWL4017", Warning, "outcomes are used",
			"outcome `{name}` is never routed to",
			"the name", "route to it or delete it",
		},
		{
			"AWL4018", Warning, "`after` waits for certain steps",
			"step `{name}` runs only when a route fires; waiting for it may never end",
			"the `after` name", "wait for a step that always runs",
		},
		{
			"AWL4019", Error, "a workflow has an outcome",
			"workflow `{name}` declares no outcome",
			"the workflow name", "add `outcome done: type <Type>, route success`",
		},
		{
			"AWL4020", Error, "a workflow has a step",
			"workflow `{name}` has no step",
			"the workflow name", "add a step",
		},
		{
			"AWL5001", Error, "loops are bounded",
			"this loop has no `max`",
			"`loop`", "add `max <n>` after `until`",
		},
		{
			"AWL5002", Error, "loops can stop",
			"this loop has no `until`",
			"`loop`", "add `until <condition>`",
		},
		{
			"AWL5003", Error, "a loop changes its value",
			"the loop never rebinds `{name}`",
			"`loop`", "bind a result to `{name}` in the body",
		},
		{
			"AWL5004", Error, "exhaustion is named",
			"step `{step}` loops and has no clauses; an exhausted loop would look like a finished one",
			"`loop`", "add clauses for both ends: `outcome ended: when <the condition of until>, route …` and `outcome gave_up: otherwise, route …`",
		},
		{
			"AWL5005", Error, "loops end through `until` and `max`",
			"a route cannot leave a loop",
			"the target", "route from the step's clauses",
		},
		{
			"AWL5006", Error, "`max` is fixed before the first pass",
			"`max` cannot read `{name}`",
			"tok", "use an input or an earlier binding",
		},
		{
			"AWL5007", Error, "counter and value differ",
			"the counter is called like the loop value",
			"the counter name", "rename it",
		},
		{
			"AWL5008", Error, "regions are collected",
			"this region is never collected",
			"`distribute` or `sequence`", "add a step with `collect <name> -> <list>`",
		},
		{
			"AWL5009", Error, "a collect closes a region",
			"no region is open here",
			"`collect`", "open one with `distribute` or `sequence`",
		},
		{
			"AWL5010", Error, "an opener is alone in its step",
			"`{verb}` is the only content of its step",
			"the verb", "leave it alone in its step: move the statements below it to a step of their own, and `collect` to the start of a third",
		},
		{
			"AWL5011", Error, "a collect opens its step",
			"`collect` is the first statement of its step",
			"`collect`", "give it a step of its own, or move it to the start of this one",
		},
		{
			"AWL5012", Error, "region statements stand in top-level steps",
			"`{verb}` cannot stand inside {what}",
			"the verb", "give it a step of its own",
		},
		{
			"AWL5013", Error, "a region is left through its collect",
			"`{name}` is outside the region opened by `{opener}`",
			"the target", "route to `{collect}`, and decide after it",
		},
		{
			"AWL5014", Error, "a region is entered through its opener",
			"`{name}` is inside the region opened by `{opener}`",
			"the target", "route to `{opener}`",
		},
		{
			"AWL5015", Error, "`after` does not cross a region",
			"`after {name}` crosses the region opened by `{opener}`",
			"the `after` name", "wait for `{collect}`",
		},
		{
			"AWL5016", Error, "what is collected is bound in the region",
			"`{name}` is not bound inside the region",
			"the collected name", "collect a name that a region step binds",
		},
		{
			"AWL5017", Error, "what is collected is bound on every path",
			"`{name}` is not bound on every path through the region",
			"the collected name", "bind it in every step that leads to the `collect`; where an item may fail, drop its `on failure` and write `collect {name}? -> slots`",
		},
		{
			"AWL5018", Error, "failures are routed",
			"an `on failure` block ends in a route",
			"`on`", "end it with `route <target>`",
		},
		{
			"AWL5019", Error, "named branches bind for themselves",
			"`join` binds nothing after named branches",
			"the name", "drop `-> {name}`",
		},
		{
			"AWL5020", Error, "a collected branch ends in a value",
			"the branch ends without a value",
			"the name after `join`", "end the branch with a call or a chain that gives a value, or drop the arrow behind `join`",
		},
		{
			"AWL5021", Error, "branches do not route",
			"a route cannot leave a fork branch",
			"the target", "route after the `join`",
		},
		{
			"AWL5022", Error, "a subflow is a step of its own",
			"`{name}` is a subflow and must be the only statement of its step",
			"the call", "give it a step of its own",
		},
		{
			"AWL5023", Error, "a subflow is called from a step",
			"`{name}` is a subflow and cannot be used {where}",
			"tok", "call it in a step of its own",
		},
		{
			"AWL5024", Error, "subflows do not recurse",
			"subflow `{name}` calls itself",
			"the call", "use a `child` workflow",
		},
		{
			"AWL5025", Error, "a visit bound is fixed before the flow",
			"the bound cannot read `{name}`",
			"tok", "use an input, a parameter or a const",
		},
	}
}
