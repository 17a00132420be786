package syntax

import "aion/domain/awl/diag"

// findings collects what the scanner and the parser say. A nil *findings takes nothing.
type findings struct {
	list    []diag.Diagnostic
	omitted int
	last    diag.Span
}

// add takes a finding. Beyond maxFound it is only counted, so that no document makes the list large.
func (f *findings) add(d diag.Diagnostic) {
	if f == nil {
		return
	}
	if len(f.list) < maxFound {
		f.list = append(f.list, d)
		return
	}
	f.omitted++
	f.last = d.Span
}

// full says that further findings are only counted; making their texts is a waste.
func (f *findings) full() bool { return f == nil || len(f.list) >= maxFound }

// report makes and takes a finding.
func (f *findings) report(code string, span diag.Span, pairs ...string) {
	if f.full() {
		f.add(diag.Diagnostic{Span: span})
		return
	}
	f.add(diag.New(code, span, pairs...))
}

// sorted gives the findings in order, closed by an AWL0004 when some were left out.
func (f *findings) sorted() []diag.Diagnostic {
	list := diag.Sort(f.list)
	if f.omitted > 0 {
		at := f.last
		if end := list[len(list)-1].Span.End; at.Start.Offset < end.Offset {
			at = diag.Span{Start: end, End: end}
		}
		list = append(list, diag.Full(at, f.omitted, f.omitted))
	}
	return list
}
