package awl

import (
	"aion/domain/awl/diag"
	"aion/domain/document"
)

// Report is the result of checking a document: exactly what check answers with on every surface (awl 9.4).
type Report struct {
	OK           bool // there is no error finding
	DeploysGreen bool // OK, a workflow, and its plan compiles
	Steps        int  // top-level steps; meaningful only when OK
	Diagnostics  []diag.Diagnostic
}

// Options are what a document needs besides its text.
type Options struct {
	// Import returns the bytes of an imported schema by its import path (at most document.MaxImportBytes + 1 of them); nil
	// when the document has no path, so that imports cannot be resolved. An error means that the file does not exist.
	Import func(path string) ([]byte, error)
}

// Refusal is why the document is not deployed: CheckRefused with its errors, or with all its findings when it has none (a
// worker document). name is the document's path. It is nil when the document deploys.
func (r Report) Refusal(name string) error {
	if r.DeploysGreen {
		return nil
	}
	var errs, all []document.Finding
	for _, d := range r.Diagnostics {
		f := document.Finding{
			Class: d.Severity.String(), Code: d.Code, Message: d.Message,
			Line: d.Span.Start.Line, Column: d.Span.Start.Column,
			EndLine: d.Span.End.Line, EndColumn: d.Span.End.Column, Hint: d.Hint,
		}
		all = append(all, f)
		if d.Severity == diag.Error {
			errs = append(errs, f)
		}
	}
	if r.OK {
		return document.CheckRefused(name, all)
	}
	return document.CheckRefused(name, errs)
}
