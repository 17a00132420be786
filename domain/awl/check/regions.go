package check

import "aion/domain/awl/syntax"

// region is a span of steps between an opener and its collect. Both of these belong to the enclosing region.
type region struct {
	opener, collect *node
	stmt            *syntax.Region
	gather          *syntax.Collect
	outer           *region
	broken          bool   // the opener or the collect is not as it should be: what is collected is not judged
	arrival         *state // at the collect, on every way through the region; nil when there is none
	arrivals        []*edge
}

// holds says whether a step belongs to the region or to one inside it.
func (r *region) holds(n *node) bool {
	for s := n.region; s != nil; s = s.outer {
		if s == r {
			return true
		}
	}
	return false
}

// outermost is the widest region around r that does not hold what stands in `from`.
func (r *region) outermost(from *region) *region {
	around := map[*region]bool{}
	for s := from; s != nil; s = s.outer {
		around[s] = true
	}
	for r.outer != nil && !around[r.outer] {
		r = r.outer
	}
	return r
}

// findRegions pairs the openers and collects of a flow's steps; they nest like brackets. An opener without a collect makes
// no region.
func (f *flow) findRegions() {
	var open []*region
	for _, n := range f.nodes {
		gather, gatherFirst := topCollect(n.step)
		if gather != nil && len(open) > 0 {
			r := open[len(open)-1]
			open = open[:len(open)-1]
			r.collect, r.gather, r.broken = n, gather, r.broken || !gatherFirst
			n.closes = r
		}
		if stmt := topRegion(n.step); stmt != nil {
			r := &region{opener: n, stmt: stmt, broken: !openerAlone(n.step)}
			n.opens = r
			open = append(open, r)
		}
	}
	f.placeInRegions()
}

// placeInRegions notes for each step the innermost region that was closed.
func (f *flow) placeInRegions() {
	var inner *region
	for _, n := range f.nodes {
		if n.closes != nil {
			inner = n.closes.outer
		}
		n.region = inner
		if n.opens != nil && n.opens.collect != nil {
			n.opens.outer = inner
			inner = n.opens
		}
	}
}

// topRegion is the opening statement of a step.
func topRegion(s *syntax.Step) *syntax.Region {
	for _, st := range s.Body {
		if r, ok := st.(*syntax.Region); ok {
			return r
		}
	}
	return nil
}

// topCollect is the collecting statement of a step, and whether it stands first.
func topCollect(s *syntax.Step) (c *syntax.Collect, first bool) {
	for i, st := range s.Body {
		if v, ok := st.(*syntax.Collect); ok {
			return v, i == 0
		}
	}
	return nil, false
}

// openerAlone says whether an opener is the only content of its step.
func openerAlone(s *syntax.Step) bool {
	return len(s.Body) == 1 && len(s.Clauses) == 0 && s.Handler == nil && s.Visits == nil
}
