package authoring

import (
	"context"

	"aion/domain/access"
	"aion/domain/awl"
	"aion/domain/awl/graph"
	"aion/domain/document"
)

// Draft judges a text like Check, also where no workspace is configured.
func (s *Service) Draft(ctx context.Context, _ access.Caller, req CheckRequest) (awl.Report, error) {
	opts, err := s.options(ctx, req)
	if err != nil {
		return awl.Report{}, err
	}
	return s.check(req.Source, opts), nil
}

// Format gives the canonical form of a text. One that cannot be read is refused (CheckRefused).
func (s *Service) Format(_ context.Context, _ access.Caller, source []byte) ([]byte, error) {
	if len(source) > document.MaxBytes {
		return nil, document.TooLarge(len(source))
	}
	formatted, found := awl.Format(source)
	if formatted == nil {
		return nil, awl.Report{Diagnostics: found}.Refusal("the document")
	}
	return formatted, nil
}

// Draw gives the graph of a text, and of as much of one as could be read.
func (s *Service) Draw(ctx context.Context, _ access.Caller, req CheckRequest) (graph.Graph, error) {
	opts, err := s.options(ctx, req)
	if err != nil {
		return graph.Graph{}, err
	}
	drawn := graph.Of(req.Source)
	drawn.Document = graph.Document{Path: req.Path, ContentHash: awl.ContentHash(req.Source, opts.Import)}
	return drawn, nil
}

// Schemas derives the schemas of a text. One that has errors is refused (CheckRefused).
func (s *Service) Schemas(ctx context.Context, _ access.Caller, req CheckRequest) (awl.Schemas, error) {
	opts, err := s.options(ctx, req)
	if err != nil {
		return awl.Schemas{}, err
	}
	schemas, report := awl.SchemasOf(req.Source, opts)
	if schemas == nil {
		return awl.Schemas{}, report.Refusal("the document")
	}
	return *schemas, nil
}
