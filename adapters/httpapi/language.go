package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"aion/adapters/web/wire"
	"aion/application/authoring"
	"aion/domain"
	"aion/domain/awl/diag"
	"aion/domain/awl/guide"
	"aion/domain/awl/plan"
)

const mediaMarkdown = "text/markdown"

type checked struct {
	OK           bool      `json:"ok"`
	DeploysGreen bool      `json:"deploys_green"`
	Steps        *int      `json:"steps"`
	Diagnostics  []finding `json:"diagnostics"`
}

type finding struct {
	wire.Finding
	EndLine   int           `json:"end_line"`
	EndColumn int           `json:"end_column"`
	Hint      wire.Nullable `json:"hint"`
	Fix       *fix          `json:"fix"`
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

func (a *API) languageRoutes() []route {
	text := []string{"source", "path?"}
	return []route{
		{method: http.MethodPost, path: "/awl/check", grant: authenticated, body: append(text, "imports?"), serve: a.turns.then(a.checkText)},
		{method: http.MethodPost, path: "/awl/format", grant: authenticated, body: []string{"source"}, serve: a.turns.then(a.formatText)},
		{method: http.MethodPost, path: "/awl/graph", grant: authenticated, body: text, serve: a.turns.then(a.drawText)},
		{method: http.MethodPost, path: "/awl/schema", grant: authenticated, body: text, serve: a.turns.then(a.schemasOfText)},
		{method: http.MethodGet, path: "/awl/guide", grant: authenticated, media: []string{mediaMarkdown}, serve: readGuide},
		{method: http.MethodGet, path: "/awl/templates", grant: authenticated, serve: listTemplates},
		{method: http.MethodGet, path: "/awl/templates/:name", grant: authenticated, serve: readTemplate},
	}
}

// draft is the text that a request brings, with where it would stand and what it imports.
func (q *request) draft() (authoring.CheckRequest, error) {
	out := authoring.CheckRequest{Source: []byte(q.body.free("source")), Path: q.body.text("path"), Imports: q.imports()}
	return out, q.whole()
}

// imports are the files that come with a text; nil when the member is absent.
func (q *request) imports() map[string][]byte {
	if !q.body.has("imports") {
		return nil
	}
	files := map[string][]byte{}
	for i, f := range q.body.objects("imports", "path", "source") {
		path := f.text("path")
		if _, twice := files[path]; twice {
			f.faults.add("/path", "imports names %q twice", domain.Quote(path, 64))
		}
		files[path] = []byte(f.free("source"))
		for _, wrong := range f.faults {
			q.body.faults.add(fmt.Sprintf("/imports/%d%s", i, wrong.Pointer), "imports: %s", wrong.Message)
		}
	}
	return files
}

func (a *API) checkText(ctx context.Context, q *request) (answer, error) {
	draft, err := q.draft()
	if err != nil {
		return answer{}, err
	}
	report, err := a.Authoring.Draft(ctx, q.who, draft)
	if err != nil {
		return answer{}, err
	}
	out := checked{OK: report.OK, DeploysGreen: report.DeploysGreen, Diagnostics: make([]finding, 0, len(report.Diagnostics))}
	if report.OK {
		out.Steps = &report.Steps
	}
	for _, d := range report.Diagnostics {
		out.Diagnostics = append(out.Diagnostics, toFinding(draft.Source, d))
	}
	return answer{value: out}, nil
}

func toFinding(source []byte, d diag.Diagnostic) finding {
	out := finding{
		Finding: wire.FindingOf(d), EndLine: d.Span.End.Line, EndColumn: d.Span.End.Column, Hint: wire.Nullable(d.Hint),
	}
	if f := d.Fix; f != nil {
		at := func(p diag.Pos) place { return place{Line: p.Line, Column: p.Column} }
		out.Fix = &fix{Title: f.Title(source), Edits: []edit{{Start: at(f.Span.Start), End: at(f.Span.End), Text: f.Text}}}
	}
	return out
}

func (a *API) formatText(ctx context.Context, q *request) (answer, error) {
	source := q.body.free("source")
	if err := q.whole(); err != nil {
		return answer{}, err
	}
	formatted, err := a.Authoring.Format(ctx, q.who, []byte(source))
	return answer{value: struct {
		Formatted string `json:"formatted"`
		Changed   bool   `json:"changed"`
	}{string(formatted), string(formatted) != source}}, err
}

func (a *API) drawText(ctx context.Context, q *request) (answer, error) {
	draft, err := q.draft()
	if err != nil {
		return answer{}, err
	}
	drawn, err := a.Authoring.Draw(ctx, q.who, draft)
	return answer{value: drawn}, err
}

func (a *API) schemasOfText(ctx context.Context, q *request) (answer, error) {
	draft, err := q.draft()
	if err != nil {
		return answer{}, err
	}
	schemas, err := a.Authoring.Schemas(ctx, q.who, draft)
	if err != nil {
		return answer{}, err
	}
	return answer{value: struct {
		Input   json.RawMessage `json:"input_schema"` // null in a worker document
		Outcome json.RawMessage `json:"outcome_schema"`
		Signals []plan.Port     `json:"signals"`
		Types   []plan.TypeDef  `json:"types"`
	}{schemas.Input, schemas.Outcome, list(schemas.Signals), list(schemas.Types)}}, nil
}

// list is never null.
func list[T any](of []T) []T {
	if of == nil {
		return []T{}
	}
	return of
}

func readGuide(context.Context, *request) (answer, error) {
	card := []byte(guide.Card())
	sum := sha256.Sum256(card)
	return answer{raw: card, etag: hex.EncodeToString(sum[:])}, nil
}

func listTemplates(context.Context, *request) (answer, error) {
	return answer{value: struct {
		Templates []guide.Template `json:"templates"`
	}{guide.Templates()}}, nil
}

func readTemplate(_ context.Context, q *request) (answer, error) {
	name := q.param("name")
	for _, t := range guide.Templates() {
		if t.Name != name {
			continue
		}
		source, err := guide.Source(name, "")
		return answer{value: struct {
			guide.Template
			Source string `json:"source"`
		}{t, source}}, err
	}
	return answer{}, &domain.Error{
		Code: domain.CodeNotFound, Type: "TemplateNotFound",
		Message: fmt.Sprintf("there is no template %q; GET %s/awl/templates lists them", domain.Quote(name, 64), prefix),
	}
}
