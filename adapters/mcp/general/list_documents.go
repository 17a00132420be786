package general

import (
	"context"
	"encoding/json"

	"aion/adapters/mcp"
	"aion/adapters/web/wire"
)

type documentList struct {
	Documents []json.RawMessage `json:"documents"`
	Count     int               `json:"count"`
	Truncated bool              `json:"truncated"`
}

func (s *Service) listDocuments(ctx context.Context, call mcp.Call) (any, error) {
	listing, err := s.authoring.List(ctx, call.Caller)
	if err != nil {
		return nil, err
	}
	const frame = 100 // the members beside the documents
	fill := wire.NewPage(s.maxResult, frame)
	truncated := listing.Truncated
	for _, e := range listing.Entries {
		entry, err := mcp.Encode(wire.DocumentOf(e))
		if err != nil {
			return nil, err
		}
		if !fill.Add(entry) {
			truncated = true
			break
		}
	}
	return documentList{Documents: fill.Entries, Count: listing.Count, Truncated: truncated}, nil
}
