package machine

import "sort"

// walk visits every live strand in activation order.
func (s *State) walk(visit func(*strand)) {
	var all []*strand
	gatherFlow(s.root, &all)
	sort.Slice(all, func(i, j int) bool { return all[i].ord < all[j].ord })
	for _, st := range all {
		visit(st)
	}
}

func gatherFlow(fl *flow, all *[]*strand) {
	if fl == nil {
		return
	}
	for _, act := range fl.active {
		gatherStrand(&act.strand, all)
	}
}

func gatherStrand(st *strand, all *[]*strand) {
	if st == nil || st.dead {
		return
	}
	*all = append(*all, st)
	for _, f := range st.frames {
		switch f := f.(type) {
		case *forkFrame:
			for _, b := range f.branches {
				gatherStrand(b, all)
			}
		case *regionFrame:
			for _, fl := range f.instances {
				gatherFlow(fl, all)
			}
		case *flowFrame:
			gatherFlow(f.flow, all)
		case *listFrame, *pipeFrame, *loopFrame:
		}
	}
}
