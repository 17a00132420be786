package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl/plan"
)

const plain = "  input ok: Bool\n  input xs: [String]\n  outcome done: type Nil, route success\n" +
	"\nworker t\n  action go() -> Nil\n  action get(x: String) -> String"

func edgeList(edges []plan.Edge) []string {
	var out []string
	for _, e := range edges {
		s := fmt.Sprintf("%s %s>%s", e.Kind, e.From, e.To)
		if e.Clause != "" {
			s += ":" + e.Clause
		}
		out = append(out, s)
	}
	return out
}

// awl 7.3: a step falls through to the one below unless that one waits for others, or is routed to while a step waits
// after the upper one.
func TestFallThroughFollowsItsRule(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, document(plain, `step a
  go()

step b
  outcome yes: when ok, route d
  outcome no: otherwise, route c

step c
  go()

step d
  go()
  route e

step e after c
  route done
`))
	want := []string{
		"fall_through a>b", "route b>d:yes", "route b>c:no", "route d>e", "after c>e", "route e>done",
	}
	if diff := cmp.Diff(want, edgeList(p.Edges)); diff != "" {
		t.Error(diff)
	}
	if got := step(t, p.Flow, "c").FallThrough; got != "" {
		t.Errorf("c falls through to %q, although d is routed to and e waits after c", got)
	}
	if p.Flow.Edges != nil {
		t.Error("the workflow's edges stand twice")
	}
}

func TestAFailureRouteIsAnEdgeOfItsOwn(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, document(plain, `step a
  go()

  on failure
    go()
    route c

step b
  go()
  route done

step c
  route done
`))
	want := []string{"fall_through a>b", "failure a>c", "route b>done", "route c>done"}
	if diff := cmp.Diff(want, edgeList(p.Edges)); diff != "" {
		t.Error(diff)
	}
}

func TestRegionsNestLikeBrackets(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, document("  input xss: [Row]\n  outcome done: type [Row], route success\n\ntype Row { cells: [String] }\n"+
		"\nworker t\n  action get(x: String) -> String", `step rows
  distribute row in xss

step cells
  sequence cell in row.cells

step one
  get(x: cell) -> seen

step cells_done
  collect seen -> list
  Row(cells: list) -> whole

step rows_done
  collect whole -> all
  route done(all)
`))
	var got []string
	for _, s := range p.Flow.Steps {
		got = append(got, fmt.Sprintf("%s %s region=%s collect=%s", s.Name, s.Kind, s.Region, s.Collect))
	}
	want := []string{
		"rows distribute region= collect=rows_done", "cells sequence region=rows collect=cells_done",
		"one plain region=cells collect=", "cells_done collect region=rows collect=", "rows_done collect region= collect=",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSubstepsAreAGroupWhoseRoutesLeadToSiblingsOrClauses(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, document(plain, `step outer
  go()
  step one
    outcome next: when ok, route two
    outcome out: otherwise, route left

  step two
    go()

  outcome left: when ok, route done
  outcome right: otherwise, route done
`))
	outer := step(t, p.Flow, "outer")
	if outer.Kind != plan.KindGroup || len(outer.Body) != 2 || outer.Body[1].Op != plan.OpGroup {
		t.Fatalf("%+v", outer)
	}
	group := outer.Body[1].Flow
	one := step(t, *group, "one")
	if one.Clauses[0].Target.Kind != plan.TargetStep || one.Clauses[1].Target.Kind != plan.TargetClause {
		t.Errorf("%+v", one.Clauses)
	}
	if diff := cmp.Diff([]string{"route one>two:next", "route one>left:out"}, edgeList(group.Edges)); diff != "" {
		t.Error(diff)
	}
}

func TestForksAndLoopsAreCountedThroughTheStep(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, document(plain, `step s
  fork x in xs
    get(x: x) -> a
    fork y in xs
      get(x: y)
    join -> inner
    get(x: a) -> b
  join -> outer
  loop n = "a" counting i
    fork z in xs sequential
      get(x: z)
    join
    get(x: n) -> n
    until n == "b"
    max 3
  loop m = "a"
    get(x: m) -> m
    until m == "b"
    max 3

  on failure
    fork q in xs
      get(x: q)
    join
    route done

  outcome end: when n == m, route done
  outcome other: otherwise, route done
`))
	s := step(t, p.Flow, "s")
	var got []string
	var visit func(list []plan.Stmt)
	visit = func(list []plan.Stmt) {
		for _, st := range list {
			if st.Op == plan.OpFork || st.Op == plan.OpLoop {
				got = append(got, fmt.Sprintf("%s%d bind=%s yield=%s", st.Op, st.K, st.Bind, st.Yield))
			}
			visit(st.Body)
		}
	}
	visit(s.Body)
	visit(s.Handler.Body)
	want := []string{
		"fork1 bind=outer yield=b", "fork2 bind=inner yield=$value", "loop1 bind=n yield=", "fork3 bind= yield=",
		"loop2 bind=m yield=", "fork4 bind= yield=",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	inner := s.Body[0].Body[1].Body[0]
	if inner.Bind != "$value" {
		t.Errorf("the last statement of the inner branch binds %q", inner.Bind)
	}
	if quiet := s.Body[1].Body[0].Body[0]; quiet.Bind != "" {
		t.Errorf("a branch whose value nobody wants binds %q", quiet.Bind)
	}
}

func TestNamedForkHasABranchPerStatement(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, document(plain, `step s
  fork
    get(x: "a") -> a
    "b" |> get -> b
  join
  route done
`))
	f := step(t, p.Flow, "s").Body[0]
	if len(f.Branches) != 2 || f.Branches[0][0].Bind != "a" || f.Branches[1][0].Op != plan.OpPipe || f.Item != "" || f.Body != nil {
		t.Errorf("%+v", f)
	}
}

func TestStepKinds(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, document(plain+"\n\nsubflow sub(x: String)\n  outcome out: type String\n\n  step only\n    route out(x)\n",
		`step empty

step calls
  sub(x: "a") -> r

step loops
  loop n = "a"
    step inner
      get(x: n)
    get(x: n) -> n
    until n == "b"
    max 3

  outcome one: when n == "b", route choose
  outcome two: otherwise, route choose

step choose
  outcome a: when r == "x", route done
  outcome b: otherwise, route done
`))
	var got []string
	for _, s := range p.Flow.Steps {
		got = append(got, s.Name+" "+s.Kind)
	}
	want := []string{"empty plain", "calls subflow", "loops group", "choose decision"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if sub := p.Subflows[0]; sub.Outcome != "out" || strings.Join(sub.Params, ",") != "x" ||
		step(t, sub.Flow, "only").Body[0].Target.Kind != plan.TargetOutcome {
		t.Errorf("%+v", sub)
	}
}
