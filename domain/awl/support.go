package awl

import (
	"fmt"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
)

// codeUnsupported is the finding about a construct of the language that this version of the program cannot run yet.
const codeUnsupported = "AWL9001"

// construct is one row of the table of what cannot be run yet: its keyword, what to use instead, and where a statement
// uses it.
type construct struct {
	keyword string
	instead string
	uses    func(s syntax.Stmt, d declared) []diag.Span
}

// declared is what the table needs to know about names.
type declared struct {
	children map[string]bool
}

// unsupported is the table. A row goes when the construct runs.
func unsupported() []construct {
	return []construct{
		{"child", "call an action or a subflow", childCalls},
		{"spawn", "call an action", spawns},
	}
}

func childCalls(s syntax.Stmt, d declared) []diag.Span {
	var spans []diag.Span
	switch s := s.(type) {
	case *syntax.Call:
		if d.children[s.Name.Name] {
			spans = append(spans, s.Name.Span)
		}
	case *syntax.Pipe:
		for _, st := range s.Stages {
			if st.Name != nil && d.children[st.Name.Name] {
				spans = append(spans, st.Name.Span)
			}
		}
	}
	return spans
}

func spawns(s syntax.Stmt, _ declared) []diag.Span {
	const keyword = len("spawn")
	if _, ok := s.(*syntax.Spawn); !ok {
		return nil
	}
	at := s.Range().Start
	end := diag.Pos{Offset: at.Offset + keyword, Line: at.Line, Column: at.Column + keyword}
	return []diag.Span{{Start: at, End: end}}
}

// unsupportedUses finds what a document uses of the table.
func unsupportedUses(doc *syntax.Document) []diag.Diagnostic {
	rows := unsupported()
	if len(rows) == 0 {
		return nil
	}
	d := declared{children: map[string]bool{}}
	for _, c := range doc.Children {
		d.children[c.Name.Name] = true
	}
	var found []diag.Diagnostic
	visit := func(s syntax.Stmt) {
		for _, row := range rows {
			for _, span := range row.uses(s, d) {
				found = append(found, diag.Diagnostic{
					Severity: diag.Error, Code: codeUnsupported, Span: span,
					Message: fmt.Sprintf("`%s` is not supported by this version of aion", row.keyword), Hint: row.instead,
				})
			}
		}
	}
	walkSteps(doc.Steps, visit)
	for _, s := range doc.Subflows {
		walkSteps(s.Steps, visit)
	}
	return found
}

// walkSteps visits every statement of the steps, those inside blocks included.
func walkSteps(steps []*syntax.Step, visit func(syntax.Stmt)) {
	for _, s := range steps {
		walk(s.Body, visit)
		if s.Handler != nil {
			walk(s.Handler.Body, visit)
		}
	}
}

func walk(list []syntax.Stmt, visit func(syntax.Stmt)) {
	for _, s := range list {
		visit(s)
		switch s := s.(type) {
		case *syntax.Fork:
			walk(s.Body, visit)
		case *syntax.Loop:
			walk(s.Body, visit)
		case *syntax.Substep:
			walkSteps([]*syntax.Step{s.Step}, visit)
		}
	}
}
