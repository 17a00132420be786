package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"aion/adapters/mcp"
	"aion/adapters/web/jsontext"
	"aion/domain"
)

// shown is what clients see of the server without calling a tool. Results of the server are kept for their ttlMs; while
// it cannot be asked, the catalogue of this program stands in.
type shown struct {
	up      *upstream
	bundled catalogue
	log     *slog.Logger

	mu   sync.Mutex
	kept map[string]kept // by method
}

// catalogue is two whole results.
type catalogue struct{ discover, list []byte }

type kept struct {
	result []byte
	until  time.Time
}

func (s *shown) discover(ctx context.Context) []byte {
	return s.get(ctx, "server/discover", s.bundled.discover)
}

func (s *shown) list(ctx context.Context) []byte { return s.get(ctx, "tools/list", s.bundled.list) }

func (s *shown) get(ctx context.Context, method string, instead []byte) []byte {
	s.mu.Lock()
	have, ok := s.kept[method]
	s.mu.Unlock()
	if ok && time.Now().Before(have.until) {
		return have.result
	}
	result, err := s.ask(ctx, method)
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "the server cannot be asked; the client sees the catalogue of this program", slog.String("method", method), slog.Any("error", err))
		return instead
	}
	ttl, _ := jsontext.Integer(member(result, "ttlMs"))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]kept{}
	}
	s.kept[method] = kept{result: result, until: time.Now().Add(time.Duration(min(max(ttl, 0), maxTTL.Milliseconds())) * time.Millisecond)}
	return result
}

const maxTTL = 24 * time.Hour

// ask sends one request of the bridge's own.
func (s *shown) ask(ctx context.Context, method string) ([]byte, error) {
	body := domain.AppendText([]byte(`{"jsonrpc":"2.0","id":"bridge","method":`), method)
	body = append(body, `,"params":{"_meta":`...)
	body = append(append(body, metadata(nil, s.bundled.client())...), `}}`...)
	a, err := s.up.post(ctx, request{method: method, version: mcp.Revision, body: body}, func([]byte) {})
	switch {
	case err != nil:
		return nil, err
	case a.fault != nil:
		text, _ := jsontext.Text(member(a.fault, "message"))
		return nil, unavailable("NoMCPServer", nil, "the server answers %s with an error: %s", method, text)
	}
	return a.result, nil
}

// client is how the bridge names itself in requests of its own.
func (c catalogue) client() []byte { return member(member(c.discover, "_meta"), keyServer) }

// bundled encodes a catalogue as the two results that a server would give, to be asked again at once.
func bundled(c mcp.Catalogue) (catalogue, error) {
	tools := make([]json.RawMessage, 0, len(c.Tools))
	for _, t := range c.Tools {
		tools = append(tools, t.Descriptor)
	}
	meta := map[string]any{keyServer: map[string]string{"name": c.Name, "title": c.Title, "version": c.Version}}
	discover, err := mcp.Encode(map[string]any{
		"resultType": "complete", "supportedVersions": []string{mcp.Revision}, "capabilities": map[string]any{"tools": struct{}{}},
		"instructions": c.Instructions, "ttlMs": 0, "cacheScope": "private", "_meta": meta,
	})
	list, err2 := mcp.Encode(map[string]any{"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private", "_meta": meta})
	if err := errors.Join(err, err2); err != nil {
		return catalogue{}, fmt.Errorf("the bundled catalogue: %w", err)
	}
	return catalogue{discover: discover, list: list}, nil
}
