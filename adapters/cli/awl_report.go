package cli

import (
	"aion/domain/awl"
	"aion/domain/awl/diag"
)

// checked is one element of `awl check -o json`.
type checked struct {
	File         string    `json:"file"`
	OK           bool      `json:"ok"`
	DeploysGreen bool      `json:"deploys_green"`
	Steps        *int      `json:"steps"`
	Diagnostics  []finding `json:"diagnostics"`
}

type finding struct {
	Class     string `json:"class"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Hint      string `json:"hint,omitempty"`
	Fix       *fix   `json:"fix"`
}

// fix is the repair of a finding.
type fix struct {
	Title string `json:"title"`
	Edits []edit `json:"edits"`
}

// edit replaces the text from start to end.
type edit struct {
	Start place  `json:"start"`
	End   place  `json:"end"`
	Text  string `json:"text"`
}

// place counts lines and columns from 1, columns in code points.
type place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

func checkedJSON(src source, r awl.Report) checked {
	c := checked{File: src.name, OK: r.OK, DeploysGreen: r.DeploysGreen, Diagnostics: []finding{}}
	if r.OK {
		c.Steps = &r.Steps
	}
	for _, d := range r.Diagnostics {
		c.Diagnostics = append(c.Diagnostics, finding{
			Class: d.Severity.String(), Code: d.Code, Message: d.Message, Line: d.Span.Start.Line, Column: d.Span.Start.Column,
			EndLine: d.Span.End.Line, EndColumn: d.Span.End.Column, Hint: d.Hint, Fix: fixJSON(src.text, d.Fix),
		})
	}
	return c
}

func fixJSON(text []byte, f *diag.Fix) *fix {
	if f == nil {
		return nil
	}
	at := func(p diag.Pos) place { return place{Line: p.Line, Column: p.Column} }
	return &fix{Title: f.Title(text), Edits: []edit{{Start: at(f.Span.Start), End: at(f.Span.End), Text: f.Text}}}
}
