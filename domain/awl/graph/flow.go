package graph

import (
	"fmt"
	"slices"

	"aion/domain/awl/compile"
	"aion/domain/awl/syntax"
)

// flow is where the steps of one list stand.
type flow struct {
	path     string // in front of their ids; empty, or ending in a slash
	group    string
	outcomes map[string]string // what a route leads to besides steps: name to node id
	parent   string            // the step around a group of substeps
	exits    map[string]string // the clauses of that step: name to node id of the step
}

// drawn is a step of a flow and its id.
type drawn struct {
	step *syntax.Step
	id   string
}

// flow draws the steps of a list and what leads from one to another.
func (b *builder) flow(steps []*syntax.Step, f flow) {
	all := make([]drawn, 0, len(steps))
	var open []flow // around the regions that are open
	for _, s := range steps {
		if len(s.Body) > 0 && len(open) > 0 {
			if _, ok := s.Body[0].(*syntax.Collect); ok {
				f, open = open[len(open)-1], open[:len(open)-1]
			}
		}
		id := b.node(s, f)
		all = append(all, drawn{s, id})
		if r := opener(s); r != nil {
			open = append(open, f)
			b.g.Groups = append(b.g.Groups, Group{
				ID: id, Kind: Region, Parent: f.group, Label: b.written(r.Range()), Node: id,
			})
			f.path, f.group = id+"/", id
		}
	}
	b.edges(all, f)
	for _, d := range all {
		b.blocks(d)
	}
}

func opener(s *syntax.Step) *syntax.Region {
	if len(s.Body) == 0 {
		return nil
	}
	r, _ := s.Body[0].(*syntax.Region)
	return r
}

// node draws a step and answers its id.
func (b *builder) node(s *syntax.Step, f flow) string {
	id := b.free(f.path + s.Name.Name)
	n := Node{
		ID: id, Kind: b.kind(s), Name: s.Name.Name, Doc: text(s.Doc), Group: f.group, Span: spanOf(s.Name.Span),
		Actions: []string{}, Children: []string{}, Waits: []string{},
	}
	if s.Visits != nil && s.Visits.Max != nil {
		n.MaxVisits = b.written(s.Visits.Max.Range())
	}
	b.uses(s.Body, &n)
	if s.Handler != nil {
		b.uses(s.Handler.Body, &n)
	}
	b.g.Nodes = append(b.g.Nodes, n)
	return id
}

// kind is compile.Kind, and tells the one call of a child apart.
func (b *builder) kind(s *syntax.Step) string {
	if len(s.Body) == 1 {
		if call, ok := s.Body[0].(*syntax.Call); ok && !b.subflows[call.Name.Name] && b.children[call.Name.Name] {
			return KindChild
		}
	}
	return compile.Kind(s, func(name string) bool { return b.subflows[name] })
}

// uses notes what statements call and wait for. Substeps are nodes of their own.
func (b *builder) uses(list []syntax.Stmt, n *Node) {
	for _, s := range list {
		switch s := s.(type) {
		case *syntax.Call:
			b.call(s.Name.Name, n)
		case *syntax.Spawn:
			n.Children = once(n.Children, s.Name.Name)
		case *syntax.Pipe:
			for _, st := range s.Stages {
				if st.Name != nil {
					b.call(st.Name.Name, n)
				}
			}
		case *syntax.Wait:
			n.Waits = once(n.Waits, s.Signal.Name)
		case *syntax.Fork:
			b.uses(s.Body, n)
		case *syntax.Loop:
			b.uses(s.Body, n)
		}
	}
}

func (b *builder) call(name string, n *Node) {
	switch {
	case b.children[name]:
		n.Children = once(n.Children, name)
	case b.subflows[name]:
		n.Subflow = name
	default:
		n.Actions = once(n.Actions, name)
	}
}

func once(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// blocks draws the groups inside a step: forks, loops, and runs of substeps.
func (b *builder) blocks(d drawn) {
	in := flow{path: d.id + "/", group: d.id, parent: d.id, exits: map[string]string{}}
	for _, cl := range d.step.Clauses {
		in.exits[cl.Name.Name] = d.id
	}
	own := b.groupOf(d.id)
	k := counters{}
	if hasDirect(d.step.Body) {
		b.g.Groups = append(b.g.Groups, Group{ID: d.id, Kind: Substeps, Parent: own, Label: d.step.Name.Name, Node: d.id})
		own = d.id
	}
	in.group = own
	b.inside(d.step.Body, in, &k)
	if d.step.Handler != nil {
		b.inside(d.step.Handler.Body, in, &k)
	}
}

// counters number the forks and loops of a step from 1, in written order.
type counters struct{ forks, loops int }

func hasDirect(list []syntax.Stmt) bool {
	return slices.ContainsFunc(list, func(s syntax.Stmt) bool { _, ok := s.(*syntax.Substep); return ok })
}

func (b *builder) groupOf(id string) string {
	i := slices.IndexFunc(b.g.Nodes, func(n Node) bool { return n.ID == id })
	return b.g.Nodes[i].Group
}

// inside draws the blocks of a statement list.
func (b *builder) inside(list []syntax.Stmt, f flow, k *counters) {
	for i := 0; i < len(list); i++ {
		switch s := list[i].(type) {
		case *syntax.Fork:
			k.forks++
			head := "fork"
			if s.Item != nil && s.Over != nil {
				head += " " + s.Item.Name + " in " + b.written(s.Over.Range())
			}
			b.inside(s.Body, b.block(f, Fork, k.forks, head), k)
		case *syntax.Loop:
			k.loops++
			b.inside(s.Body, b.block(f, Loop, k.loops, "loop "+s.Name.Name), k)
		case *syntax.Substep:
			var run []*syntax.Step
			for ; i < len(list); i++ {
				sub, ok := list[i].(*syntax.Substep)
				if !ok {
					break
				}
				run = append(run, sub.Step)
			}
			i--
			b.flow(run, f)
		}
	}
}

// block draws a fork or a loop, and gives the flow of what stands in it.
func (b *builder) block(f flow, kind string, k int, label string) flow {
	id := fmt.Sprintf("%s.%s%d", f.parent, kind, k)
	b.g.Groups = append(b.g.Groups, Group{ID: id, Kind: kind, Parent: f.group, Label: label, Node: f.parent})
	in := f
	in.path, in.group = fmt.Sprintf("%s/#%d/", f.parent, k), id
	return in
}
