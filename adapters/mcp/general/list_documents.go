package general

import (
	"context"
	"encoding/json"
	"path"
	"strings"

	"aion/adapters/mcp"
)

type documentList struct {
	Documents []json.RawMessage `json:"documents"`
	Count     int               `json:"count"`
	Truncated bool              `json:"truncated"`
}

type documentEntry struct {
	Path        string `json:"path"`
	Name        string `json:"name"`
	ContentHash string `json:"content_hash"`
	Bytes       int64  `json:"bytes"`
	ModifiedAt  stamp  `json:"modified_at"`
}

func (s *Service) listDocuments(ctx context.Context, call mcp.Call) (any, error) {
	listing, err := s.authoring.List(ctx, call.Caller)
	if err != nil {
		return nil, err
	}
	const frame = 100 // the members beside the documents
	fill := newPage(s.maxResult, frame)
	truncated := listing.Truncated
	for _, e := range listing.Entries {
		full, err := fill.add(documentEntry{
			Path: string(e.Path), Name: strings.TrimSuffix(path.Base(string(e.Path)), ".awl"),
			ContentHash: e.ContentHash, Bytes: e.Bytes, ModifiedAt: stamp(e.ModifiedAt),
		})
		if err != nil {
			return nil, err
		}
		if full {
			truncated = true
			break
		}
	}
	return documentList{Documents: fill.entries, Count: listing.Count, Truncated: truncated}, nil
}
