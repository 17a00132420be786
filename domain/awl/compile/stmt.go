package compile

import (
	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// branchValue is the name under which a branch of a collection fork leaves a value that has no name in the document. No
// binding of a document can be called so.
const branchValue = "$value"

// stepContext compiles the statements of one step. Forks and loops are numbered through the whole step.
type stepContext struct {
	*compiler
	step         *syntax.Step
	scope        scope
	forks, loops int
	deep         int // forks and loops around the present statement
}

func (x *stepContext) stmts(list []syntax.Stmt) []plan.Stmt {
	var out []plan.Stmt
	for _, part := range grouped(list) {
		out = append(out, x.part(part))
	}
	return out
}

// grouped splits a list into its statements; consecutive substeps stay together.
func grouped(list []syntax.Stmt) [][]syntax.Stmt {
	var parts [][]syntax.Stmt
	for i, s := range list {
		_, sub := s.(*syntax.Substep)
		if sub && i > 0 {
			if _, also := list[i-1].(*syntax.Substep); also {
				parts[len(parts)-1] = append(parts[len(parts)-1], s)
				continue
			}
		}
		parts = append(parts, []syntax.Stmt{s})
	}
	return parts
}

func (x *stepContext) part(part []syntax.Stmt) plan.Stmt {
	if _, sub := part[0].(*syntax.Substep); !sub {
		return x.stmt(part[0])
	}
	var steps []*syntax.Step
	for _, s := range part {
		if sub, ok := s.(*syntax.Substep); ok {
			steps = append(steps, sub.Step)
		}
	}
	return x.group(steps, x.exits())
}

// exits are the clauses that the substeps of the present block can route to: those of the step, but for blocks inside
// forks and loops.
func (x *stepContext) exits() map[string]bool {
	clauses := map[string]bool{}
	if x.deep == 0 {
		for _, cl := range x.step.Clauses {
			clauses[cl.Name.Name] = true
		}
	}
	return clauses
}

func (x *stepContext) stmt(s syntax.Stmt) plan.Stmt {
	const perStmt = 64 // bytes of JSON around each statement
	x.spend(perStmt, s.Range())
	p := plan.Stmt{Line: s.Range().Start.Line}
	switch s := s.(type) {
	case *syntax.Call:
		x.call(&p, s)
	case *syntax.Spawn:
		x.spawned[s.Name.Name] = true
		p.Op, p.Name, p.Args = plan.OpSpawn, s.Name.Name, x.arguments(s.Args, s.Range())
	case *syntax.Pipe:
		x.pipe(&p, s)
	case *syntax.Wait:
		p.Op, p.Name, p.TimeoutMS, p.Bind = plan.OpWait, s.Signal.Name, x.duration(s.Timeout), bind(s.Bind)
	case *syntax.Sleep:
		p.Op, p.DurationMS = plan.OpSleep, x.duration(s.Duration)
	case *syntax.Route:
		t := x.target(s.Target, nil)
		p.Op, p.Target = plan.OpRoute, &t
	case *syntax.Fork:
		x.fork(&p, s)
	case *syntax.Loop:
		x.loop(&p, s)
	case *syntax.Region:
		p.Op, p.Item, p.Value = s.Verb, s.Item.Name, x.root(s.Over)
	case *syntax.Collect:
		p.Op, p.Name, p.Tolerant, p.Bind = plan.OpCollect, s.Name.Name, s.Tolerant, bind(s.Bind)
	case *syntax.Substep:
		p = x.group([]*syntax.Step{s.Step}, x.exits())
	}
	return p
}

func bind(name *syntax.Ident) string {
	if name == nil {
		return ""
	}
	return name.Name
}

// arguments compiles named values and bounds the depth of each.
func (x *stepContext) arguments(args []*syntax.Arg, at diag.Span) []plan.Arg {
	out := x.args(args)
	for i := range out {
		if x.over == nil && tooDeep(&out[i].Value, maxExprDepth) {
			x.over = &LimitError{What: "the nesting of an argument", Limit: maxExprDepth, Span: at}
		}
	}
	return out
}

func (x *stepContext) call(p *plan.Stmt, s *syntax.Call) {
	p.Name, p.Args, p.Bind = s.Name.Name, x.arguments(s.Args, s.Range()), bind(s.Bind)
	switch o := x.ops[s.Name.Name]; {
	case o.subflow != nil:
		p.Op = plan.OpSubflow
	case o.child != nil:
		p.Op = plan.OpChild
		x.called[s.Name.Name] = true
	case o.action != nil:
		p.Op, p.Queue = plan.OpCall, o.queue
		node, timeout := x.settings(o.action.Settings, "", 0)
		p.Node, p.TimeoutMS = x.settings(s.Settings, node, timeout)
	}
}

func (x *stepContext) pipe(p *plan.Stmt, s *syntax.Pipe) {
	p.Op, p.Value, p.Bind = plan.OpPipe, x.root(s.Head), bind(s.Bind)
	for _, st := range s.Stages {
		p.Stages = append(p.Stages, x.stage(st))
	}
	if s.Route != nil {
		item := op(plan.ExprItem)
		t := x.target(s.Route, &item)
		p.Target = &t
	}
}

func (x *stepContext) stage(s *syntax.Stage) plan.Stage {
	if s.Name != nil {
		return x.callStage(s.Name.Name)
	}
	e := op(plan.ExprItem)
	for _, name := range s.Path {
		e = field(e, name)
	}
	if s.Comb != nil {
		e = x.combine(e, s.Comb)
	}
	if x.over == nil && tooDeep(&e, maxExprDepth) {
		x.over = &LimitError{What: "the nesting of this stage", Limit: maxExprDepth, Span: s.Span}
	}
	return plan.Stage{Op: plan.StageExpr, Expr: &e}
}

// callStage is a stage that calls; its value goes to the only parameter, or to the only required one.
func (x *stepContext) callStage(name string) plan.Stage {
	o := x.ops[name]
	if o.child != nil {
		x.called[name] = true
		return plan.Stage{Op: plan.OpChild, Name: name, Param: receiver(o.child.Params)}
	}
	st := plan.Stage{Op: plan.OpCall, Name: name, Queue: o.queue}
	if o.action != nil {
		st.Param = receiver(o.action.Params)
		st.Node, st.TimeoutMS = x.settings(o.action.Settings, "", 0)
	}
	return st
}

func receiver(params []*syntax.Param) string {
	for _, p := range params {
		if len(params) == 1 || p.Type != nil && !p.Type.Optional {
			return p.Name.Name
		}
	}
	return ""
}

func (x *stepContext) fork(p *plan.Stmt, s *syntax.Fork) {
	x.forks++
	x.deep++
	defer func() { x.deep-- }()
	p.Op, p.K, p.Sequential, p.Bind = plan.OpFork, x.forks, s.Sequential, bind(s.Bind)
	if s.Item == nil {
		for _, part := range grouped(s.Body) {
			p.Branches = append(p.Branches, []plan.Stmt{x.part(part)})
		}
		return
	}
	p.Item, p.Value = s.Item.Name, x.root(s.Over)
	p.Body = x.stmts(s.Body)
	if p.Bind == "" || len(p.Body) == 0 {
		return
	}
	last := &p.Body[len(p.Body)-1]
	if last.Bind == "" {
		last.Bind = branchValue
	}
	p.Yield = last.Bind
}

func (x *stepContext) loop(p *plan.Stmt, s *syntax.Loop) {
	x.loops++
	x.deep++
	defer func() { x.deep-- }()
	p.Op, p.K, p.Bind, p.Counter = plan.OpLoop, x.loops, s.Name.Name, bind(s.Counter)
	p.Value = x.root(s.Seed)
	p.Body = x.stmts(s.Body)
	p.Until, p.Max = x.root(s.Until), x.root(s.Max)
}

// target compiles what a route leads to. piped is the value that a chain hands to it; nil when there is none.
func (x *stepContext) target(t *syntax.Target, piped *plan.Expr) plan.Target {
	if t == nil {
		return plan.Target{}
	}
	name := t.Name.Name
	out := plan.Target{Kind: plan.TargetStep, Name: name}
	typ, isOutcome := x.scope.outcomes[name]
	switch {
	case isOutcome:
		out.Kind = plan.TargetOutcome
		out.Payload = x.payload(t, typ, piped)
	case x.scope.clauses[name]:
		out.Kind = plan.TargetClause
	}
	return out
}

// payload is what an outcome carries: named fields, one value, the value of a chain, or the binding of its name.
func (x *stepContext) payload(t *syntax.Target, typ *schema.Type, piped *plan.Expr) *plan.Expr {
	switch {
	case t.HasArgs:
		return &plan.Expr{Op: plan.ExprRecord, Fields: x.arguments(t.Args, t.Span)}
	case t.Value != nil:
		return x.root(t.Value)
	case piped != nil:
		return piped
	case typ.Kind == schema.Nil:
		e := literal([]byte("null"))
		return &e
	}
	e := x.name(&syntax.Name{X: syntax.X{Span: t.Name.Span}, Name: t.Name.Name})
	return &e
}
