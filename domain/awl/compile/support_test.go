package compile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aion/domain/awl/check"
	"aion/domain/awl/compile"
	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
)

var valid = filepath.Join("..", "testdata", "valid")

// compiled gives the plan of a text that has no error findings.
func compiled(tb testing.TB, src string) (*plan.Plan, error) {
	tb.Helper()
	doc, found := syntax.Parse([]byte(src))
	res, found := check.Check(doc, found, func(path string) ([]byte, error) {
		return os.ReadFile(filepath.Join(valid, filepath.FromSlash(path)))
	})
	if diag.HasErrors(found) {
		for _, d := range found {
			tb.Errorf("%d:%d %s %s", d.Span.Start.Line, d.Span.Start.Column, d.Code, d.Message)
		}
		tb.FailNow()
	}
	return compile.Compile(doc, res, "0123")
}

func mustCompile(tb testing.TB, src string) *plan.Plan {
	tb.Helper()
	p, err := compiled(tb, src)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// document completes steps to a document with the given declarations.
func document(decls, steps string) string {
	return "//! A test.\nworkflow w\n" + decls + "\n\n" + steps
}

func step(tb testing.TB, f plan.Flow, name string) plan.Step {
	tb.Helper()
	for _, s := range f.Steps {
		if s.Name == name {
			return s
		}
	}
	tb.Fatalf("no step %q", name)
	return plan.Step{}
}

// spell writes an expression in a short form of its own.
func spell(e *plan.Expr) string {
	if e == nil {
		return "-"
	}
	var parts []string
	for i := range e.Args {
		parts = append(parts, spell(&e.Args[i]))
	}
	for i := range e.Fields {
		parts = append(parts, e.Fields[i].Name+": "+spell(&e.Fields[i].Value))
	}
	switch e.Op {
	case plan.ExprLit:
		return string(e.Value)
	case plan.ExprRef:
		return e.Name
	case plan.ExprField:
		return parts[0] + "." + e.Name
	case plan.ExprIndex:
		return fmt.Sprintf("%s[%d]", parts[0], e.Index)
	}
	if len(parts) == 0 {
		return e.Op
	}
	return e.Op + "(" + strings.Join(parts, ", ") + ")"
}
