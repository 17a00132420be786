package language

import (
	"fmt"
	"maps"
	"slices"

	"aion/domain/awl/syntax"
	"aion/domain/history"
)

// Direct runs a document by walking its syntax tree. It does one thing after the other: what runs side by side in the
// language runs in written order here. Where the order decides how the run ends, Racy is set and the result says nothing.
type Direct struct {
	Racy bool
	// Cut says that something was cut off while other parts ran, so that effects depend on the order.
	Cut bool

	doc      *syntax.Document
	world    *World
	types    map[string]*syntax.TypeDecl
	consts   map[string]*syntax.Const
	subflows map[string]*syntax.Subflow
	children map[string]*syntax.Child
	params   map[string][]*syntax.Param
	serial   int
	fuel     int
}

// maxWork is how many expressions are evaluated before the interpreter gives up, as if the order decided.
const maxWork = 1_000_000

// tired is thrown when maxWork is reached.
type tired struct{}

// NewDirect prepares a run of a document in a world.
func NewDirect(doc *syntax.Document, w *World) *Direct {
	d := &Direct{
		doc: doc, world: w, types: map[string]*syntax.TypeDecl{}, consts: map[string]*syntax.Const{},
		subflows: map[string]*syntax.Subflow{}, children: map[string]*syntax.Child{}, params: map[string][]*syntax.Param{},
	}
	for _, t := range doc.Types {
		d.types[t.Name.Name] = t
	}
	for _, c := range doc.Consts {
		d.consts[c.Name.Name] = c
	}
	for _, s := range doc.Subflows {
		d.subflows[s.Name.Name] = s
	}
	for _, c := range doc.Children {
		d.children[c.Name.Name] = c
		d.params[c.Name.Name] = c.Params
	}
	for _, w := range doc.Workers {
		for _, a := range w.Actions {
			d.params[a.Name.Name] = a.Params
		}
	}
	return d
}

// absent is the value that is not there.
type absent struct{}

// failure is how a step fails. It is thrown as a panic and caught where the language catches it. Codes are all that are
// possible: of branches that run side by side any may be the first to fail.
type failure struct{ codes []string }

func fail(code string) { panic(failure{[]string{code}}) }

// caught runs a part and gives its failure, if it has one.
func caught(part func()) (f *failure) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			f = &p
		default:
			panic(p)
		}
	}()
	part()
	return nil
}

// also adds the codes of another failure.
func (f *failure) also(g *failure) *failure {
	if f == nil {
		return g
	}
	if g == nil {
		return f
	}
	return &failure{append(slices.Clone(f.codes), g.codes...)}
}

// names is an environment: what names are bound to. It is never changed.
type names map[string]bound

type bound struct {
	value  any
	serial int
}

func (d *Direct) bind(e names, name string, v any) names {
	d.serial++
	e = maps.Clone(e)
	if e == nil {
		e = names{}
	}
	e[name] = bound{v, d.serial}
	return e
}

// union is what two ways bound together; the later binding of a name is the one in force.
func union(a, b names) names {
	out := maps.Clone(a)
	if out == nil {
		out = names{}
	}
	for name, v := range b {
		if was, ok := out[name]; !ok || v.serial > was.serial {
			out[name] = v
		}
	}
	return out
}

// Ending is how a run may end. For a failure Codes has all codes that are possible.
type Ending struct {
	Result
	Codes []string
}

// Run runs the workflow.
func (d *Direct) Run() (end Ending) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case tired:
			d.Racy = true
		default:
			panic(p)
		}
	}()
	d.fuel = maxWork
	var e names
	given := d.world.Input()
	for _, in := range d.doc.Header.Inputs {
		var v any = absent{}
		if got, ok := given[in.Name.Name]; ok {
			v = got
		}
		e = d.bind(e, in.Name.Name, v)
	}
	f := d.newFlow(flowRun{steps: d.doc.Steps})
	x := f.run(f.steps[0], e)
	if x.failure != nil {
		return Ending{Result: Result{Status: history.Failed}, Codes: x.failure.codes}
	}
	for _, o := range d.doc.Header.Outcomes {
		if o.Name.Name == x.outcome {
			status := history.Completed
			if o.Failure {
				status = history.Failed
			}
			return Ending{Result: Result{Status: status, Outcome: x.outcome, Payload: x.payload}}
		}
	}
	panic(fmt.Sprintf("the flow ended in %q, which is no outcome", x.outcome))
}

// Agrees compares the machine's end with the direct one.
func (e Ending) Agrees(r Result) error {
	if e.Codes != nil {
		if r.Status != history.Failed || !slices.Contains(e.Codes, r.Code) {
			return fmt.Errorf("the machine ended %+v, the interpreter fails with one of %v", r, e.Codes)
		}
		return nil
	}
	if r.Status != e.Status || r.Outcome != e.Outcome || r.Code != "" || Canonical(r.Payload) != Canonical(e.Payload) {
		return fmt.Errorf("the machine ended %+v, the interpreter %+v", r, e.Result)
	}
	return nil
}
