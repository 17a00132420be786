package general

import (
	"context"

	"aion/adapters/mcp"
	"aion/adapters/web/wire"
	"aion/application/authoring"
	"aion/domain/awl/diag"
)

type report struct {
	OK           bool      `json:"ok"`
	DeploysGreen bool      `json:"deploys_green"`
	Steps        *int      `json:"steps"`
	Diagnostics  []finding `json:"diagnostics"`
}

type finding struct {
	wire.Finding
	Hint string `json:"hint,omitempty"`
}

func (s *Service) checkDocument(ctx context.Context, call mcp.Call) (any, error) {
	source := []byte(call.Arguments.Text("source"))
	got, err := s.authoring.Check(ctx, call.Caller, authoring.CheckRequest{Source: source, Path: call.Arguments.Text("path")})
	if err != nil {
		return nil, err
	}
	out := report{OK: got.OK, DeploysGreen: got.DeploysGreen, Diagnostics: toFindings(source, got.Diagnostics)}
	if got.OK {
		out.Steps = &got.Steps
	}
	return out, nil
}

// toFindings puts a fix into the hint: a finding has no member of its own for it.
func toFindings(source []byte, diagnostics []diag.Diagnostic) []finding {
	out := make([]finding, 0, len(diagnostics))
	for _, d := range diagnostics {
		out = append(out, finding{Finding: wire.FindingOf(d), Hint: d.Advice(source)})
	}
	return out
}
