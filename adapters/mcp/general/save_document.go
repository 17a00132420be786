package general

import (
	"context"

	"aion/adapters/mcp"
	"aion/application/authoring"
)

type saved struct {
	Path        string `json:"path"`
	Name        string `json:"name"`
	ContentHash string `json:"content_hash"`
	Bytes       int64  `json:"bytes"`
	Created     bool   `json:"created"`
}

func (s *Service) saveDocument(ctx context.Context, call mcp.Call) (any, error) {
	a := call.Arguments
	got, err := s.authoring.Save(ctx, call.Caller, authoring.SaveRequest{
		Path: a.Text("path"), Source: []byte(a.Text("source")), ExpectedHash: a.Text("expected_content_hash"),
	})
	if err != nil {
		return nil, err
	}
	return saved{Path: string(got.Path), Name: got.Name, ContentHash: got.ContentHash, Bytes: got.Bytes, Created: got.Created}, nil
}
