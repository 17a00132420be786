package guide

func flowWords() []word {
	return []word{
		{
			"step", "a named part of the flow",
			"`step <name>` and its statements. Steps run in written order; a step that ends in `route` goes elsewhere, and the last one routes to an outcome. Inside a step's statements, `step` opens a substep.",
			"step step_body statement", "hello",
		},
		{
			"after", "waits for other steps",
			"`step <name> after <step>, <other>` starts when each named step has completed; steps that wait for the same one run at the same time. The names bound by the awaited steps must differ.",
			"step", "dependencies",
		},
		{
			"route", "moves control to a step or ends the run",
			"`route <step>`, or `route <outcome>(field: value, …)` for a record, `route <outcome>(value)` for any type, `route <outcome>` for `Nil` or for a binding of the outcome's name. `value |> route <outcome>` passes the value. Nothing follows a route in its list.",
			"route clause target pipe", "approval",
		},
		{
			"when", "the guard of a clause",
			"`outcome <name>: when <condition>, route <target>`. What a guard proves present (`x is present`) may be read in its route and in the steps behind it; what a failed guard proves holds in the clauses below.",
			"clause guard", "approval",
		},
		{"otherwise", "the last clause", "`outcome <name>: otherwise, route <target>` is taken when no clause above is. Nothing stands below it.", "clause guard", "approval"},
		{"if", "another spelling of `when`", "Read in a clause, and printed as `when`.", "guard", "tolerated"},
		{"else", "another spelling of `otherwise`", "Read in a clause, and printed as `otherwise`.", "guard", "tolerated"},
		{
			"on", "opens the block of a failed step",
			"`on failure`, below the statements of a step: the block runs when the step fails, sees what was bound before the step but not the reason, and ends in a route. A failure without it fails the flow around.",
			"on_failure", "compensation",
		},
		{
			"wait", "takes a signal",
			"`wait <signal> -> x` waits for it; `wait <signal> timeout 5m -> x` at most so long, and then `x` is absent: test it with `x is absent`.",
			"wait", "approval",
		},
		{"sleep", "waits for some time", "`sleep 5s`, or a const that holds a duration. The wait survives a restart.", "sleep", "pause"},
		{
			"fork", "does things at once",
			"`fork item in items` runs its block once per item, all at once; `join -> results` binds the values of the last statements, in item order. `fork` alone runs each of its statements as a branch. A branch that fails stops the others and fails the step; routes do not leave a branch. For items that take several steps, or may fail alone, use `distribute`.",
			"fork", "fan_out",
		},
		{"join", "ends a fork", "`join` stands in the column of its `fork`; `join -> xs` binds the results of a fork over items.", "fork", "branches"},
		{"sequential", "one branch at a time", "`fork item in items sequential`: each branch starts when the one before has ended.", "fork", "one_by_one"},
		{
			"loop", "repeats until a condition holds",
			"`loop x = <seed> counting n`, statements that bind `x` anew, `until <condition>`, `max <n>`. Afterwards `x` has its last value and `n` is the number of passes. The step needs clauses for both ends: done, and given up.",
			"loop", "loop",
		},
		{"counting", "counts the passes of a loop", "`loop x = <seed> counting n`: `n` is an Int, readable in the body, in `until` and behind the loop.", "loop", "loop"},
		{"until", "the end of a loop", "`until <condition>`, below the statements of a loop; it is tested after each pass.", "loop", "loop"},
		{
			"max", "a bound",
			"`max <n>` closes a loop: how many passes at most, 10,000 the most. `max <n> visits` closes a step: how often it may be entered, which bounds a cycle of routes; once more fails the step.",
			"loop visits", "loop",
		},
		{
			"visits", "how often a step was entered",
			"`max <n> visits` bounds a step on a cycle of routes. In the clauses of that step `visits` is an Int: `when visits == 3` takes the way out before the bound fails the step.",
			"visits primary", "visits",
		},
		{
			"distribute", "opens a region: steps per item, all at once",
			"`distribute x in xs` is alone in its step. The steps below it, up to the step that opens with `collect`, run once per item, each item on its own track.",
			"region collect", "region",
		},
		{
			"sequence", "opens a region: steps per item, one item after the other",
			"`sequence x in xs`, like `distribute`, but an item starts when the one before has ended.",
			"region collect", "sequence",
		},
		{
			"collect", "closes a region",
			"`collect v -> vs` gathers what the items bound to `v`, in item order; an item that fails fails the step. `collect v? -> vs` waits for all, and a failed item leaves its slot absent: `vs |> filter(is present) -> good`. Names bound inside end here.",
			"collect", "region",
		},
		{"in", "the list of a fork or region", "`fork x in xs`, `distribute x in xs`, `sequence x in xs`.", "fork region", "fan_out"},
	}
}
