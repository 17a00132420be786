package check

import "aion/domain/awl/syntax"

// scan notes the names that steps bind and the facts that their clauses prove, at any depth.
func (u *universe) scan(steps []*syntax.Step) {
	for _, s := range steps {
		u.scanList(s.Body)
		if s.Handler != nil {
			u.scanList(s.Handler.Body)
		}
		for _, cl := range s.Clauses {
			if cl.Guard == nil {
				continue
			}
			p := proves(cl.Guard)
			for _, path := range p.ifTrue {
				u.addFact(path)
			}
			for _, path := range p.ifFalse {
				u.addFact(path)
			}
		}
	}
}

func (u *universe) scanList(list []syntax.Stmt) {
	for _, s := range list {
		switch v := s.(type) {
		case *syntax.Fork:
			u.scanIdent(v.Item)
			u.scanIdent(v.Bind)
			u.scanList(v.Body)
		case *syntax.Loop:
			u.addName(v.Name.Name)
			u.scanIdent(v.Counter)
			u.scanList(v.Body)
		case *syntax.Region:
			u.addName(v.Item.Name)
		case *syntax.Substep:
			u.scan([]*syntax.Step{v.Step})
		default:
			u.scanIdent(binding(s))
		}
	}
}

func (u *universe) scanIdent(id *syntax.Ident) {
	if id != nil {
		u.addName(id.Name)
	}
}

// binding is the name that a simple statement binds; nil when it binds none.
func binding(s syntax.Stmt) *syntax.Ident {
	switch v := s.(type) {
	case *syntax.Call:
		return v.Bind
	case *syntax.Pipe:
		return v.Bind
	case *syntax.Wait:
		return v.Bind
	case *syntax.Collect:
		return v.Bind
	case *syntax.Fork:
		return v.Bind
	default:
		return nil
	}
}
