package general

import (
	"context"

	"aion/adapters/mcp"
)

type documentText struct {
	Path        string `json:"path"`
	Name        string `json:"name"`
	Source      string `json:"source"`
	ContentHash string `json:"content_hash"`
	Bytes       int    `json:"bytes"`
}

func (s *Service) readDocument(ctx context.Context, call mcp.Call) (any, error) {
	d, err := s.authoring.Read(ctx, call.Caller, call.Arguments.Text("path"))
	if err != nil {
		return nil, err
	}
	return documentText{Path: string(d.Path), Name: d.Name, Source: string(d.Source), ContentHash: d.ContentHash, Bytes: len(d.Source)}, nil
}
