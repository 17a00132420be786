package awl

import "aion/domain/awl/diag"

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
