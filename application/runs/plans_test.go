package runs_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"aion/domain/action"
	"aion/domain/awl/plan"
)

// The plans of these tests are built by hand, so that they hold exactly what each test is about.

const (
	textSchema = `{"type":"string"}`
	openInput  = `{"type":"object","additionalProperties":false,"properties":{"name":{"type":"string"}}}`
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func lit(s string) *plan.Expr { return &plan.Expr{Op: plan.ExprLit, Value: raw(s)} }

func ref(name string) *plan.Expr { return &plan.Expr{Op: plan.ExprRef, Name: name} }

func present(name string) *plan.Expr {
	return &plan.Expr{Op: plan.ExprPresent, Args: []plan.Expr{*ref(name)}}
}

// base is a workflow with an optional name as its input, a success outcome done and a failure outcome lapsed, both text.
func base(name string) *plan.Plan {
	return &plan.Plan{
		Format: plan.Format, WorkflowType: name, ContentHash: hash(name), TimeoutMS: 3_600_000,
		InputSchema: raw(openInput), OutcomeSchema: raw(`{}`),
		Inputs: []plan.Port{{Name: "name", Schema: raw(textSchema), Optional: true}},
		Outcomes: []plan.Outcome{
			{Name: "done", Schema: raw(textSchema), Status: plan.Success},
			{Name: "lapsed", Schema: raw(textSchema), Status: plan.Failure},
		},
	}
}

// hash is a stand-in for a content hash: 64 hex digits that follow from the name.
func hash(name string) string { return strings.Repeat(fmt.Sprintf("%08x", fnv(name)), 8) }

func fnv(s string) uint32 {
	h := uint32(2166136261)
	for _, c := range []byte(s) {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}

func worker(queue string, actions ...plan.Action) plan.Worker {
	return plan.Worker{Name: queue, Actions: actions}
}

// command is an action that the server runs itself.
func command(name string) plan.Action {
	return plan.Action{
		Name: name, InputSchema: raw(`{"type":"object"}`), OutputSchema: raw(textSchema),
		Body: &action.Body{Run: &action.RunBody{Command: "true", Capture: action.CaptureText}},
	}
}

func call(queue, name, bind string) plan.Stmt {
	return plan.Stmt{Op: plan.OpCall, Queue: queue, Name: name, Bind: bind}
}

func to(outcome string, payload *plan.Expr) plan.Stmt {
	return plan.Stmt{Op: plan.OpRoute, Target: &plan.Target{Kind: plan.TargetOutcome, Name: outcome, Payload: payload}}
}

// chain gives each step the next one as its fall-through.
func chain(steps ...plan.Step) plan.Flow {
	for i := range steps {
		steps[i].Kind = plan.KindPlain
		if i+1 < len(steps) {
			steps[i].FallThrough = steps[i+1].Name
		}
	}
	return plan.Flow{Steps: steps}
}

func step(name string, body ...plan.Stmt) plan.Step { return plan.Step{Name: name, Body: body} }

// threeSteps calls a command three times, one after the other, and ends with the last result.
func threeSteps() *plan.Plan {
	p := base("three")
	p.Workers = []plan.Worker{worker("shell", command("one"), command("two"), command("three"))}
	p.Flow = chain(step("a", call("shell", "one", "x")), step("b", call("shell", "two", "y")),
		step("c", call("shell", "three", "z"), to("done", ref("z"))))
	return p
}

// oneStep calls one command with a retry policy and a bound.
func oneStep(name string, r *plan.Retry) *plan.Plan {
	p := base(name)
	act := command("work")
	act.Retry = r
	p.Workers = []plan.Worker{worker("shell", act)}
	p.Flow = chain(step("a", call("shell", "work", "x"), to("done", ref("x"))))
	return p
}

// approval runs a command, then waits for the signal go; a bound of 0 waits for ever.
func approval(name string, boundMS int64) *plan.Plan {
	p := base(name)
	p.Signals = []plan.Port{{Name: "go", Schema: raw(textSchema)}}
	p.Workers = []plan.Worker{worker("shell", command("work"))}
	wait := plan.Stmt{Op: plan.OpWait, Name: "go", Bind: "answer", TimeoutMS: boundMS}
	p.Flow = chain(step("a", call("shell", "work", "")), step("hold", wait))
	p.Flow.Steps[1].Clauses = []plan.Clause{
		{Name: "yes", Guard: present("answer"), Target: plan.Target{Kind: plan.TargetOutcome, Name: "done", Payload: ref("answer")}},
		{Name: "no", Target: plan.Target{Kind: plan.TargetOutcome, Name: "lapsed", Payload: lit(`"too late"`)}},
	}
	return p
}

// fanOut calls a command for each of n items side by side.
func fanOut(name string, n int) *plan.Plan {
	p := base(name)
	p.Workers = []plan.Worker{worker("shell", command("work"))}
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`"%d"`, i)
	}
	fork := plan.Stmt{
		Op: plan.OpFork, K: 1, Item: "item", Value: lit("[" + strings.Join(items, ",") + "]"),
		Body: []plan.Stmt{call("shell", "work", "$value")}, Yield: "$value", Bind: "all",
	}
	p.Flow = chain(step("a", fork, to("done", lit(`"all"`))))
	return p
}
