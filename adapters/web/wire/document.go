package wire

import (
	"aion/application/authoring"
	"aion/domain/awl/diag"
	"aion/domain/document"
)

// Document is a saved document as lists show it.
type Document struct {
	Path        string `json:"path"`
	Name        string `json:"name"`
	ContentHash string `json:"content_hash"`
	Bytes       int64  `json:"bytes"`
	ModifiedAt  Stamp  `json:"modified_at"`
}

// DocumentOf shows an entry of the workspace.
func DocumentOf(e document.Entry) Document {
	return Document{Path: string(e.Path), Name: e.Path.Name(), ContentHash: e.ContentHash, Bytes: e.Bytes, ModifiedAt: Stamp(e.ModifiedAt)}
}

// Finding is what is wrong with a text, and where: lines and columns count from 1.
type Finding struct {
	Class   string `json:"class"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

// FindingOf shows a diagnostic without its repair, which surfaces tell in their own ways.
func FindingOf(d diag.Diagnostic) Finding {
	return Finding{Class: d.Severity.String(), Code: d.Code, Message: d.Message, Line: d.Span.Start.Line, Column: d.Span.Start.Column}
}

// DeployStep is how long one step of a deploy took.
type DeployStep struct {
	Step       string `json:"step"`
	DurationMS int64  `json:"duration_ms"`
}

// DeployStepsOf shows the steps in their order.
func DeployStepsOf(d authoring.Deployed) []DeployStep {
	steps := make([]DeployStep, 0, len(d.Steps))
	for _, s := range d.Steps {
		steps = append(steps, DeployStep{Step: s.Step, DurationMS: s.Duration.Milliseconds()})
	}
	return steps
}
