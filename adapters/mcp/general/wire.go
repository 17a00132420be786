package general

import (
	"encoding/json"
	"time"
	"unicode/utf8"

	"aion/adapters/mcp"
	"aion/application/runs"
	"aion/domain/history"
)

// The bounds of one value inside an answer (mcp 4, size).
const (
	maxValue        = 65_536
	maxValueDefault = 8_192 // in a page without limit
	maxPageDefault  = 32_768
	previewLength   = 1_024 // characters
)

// stamp writes a time; the zero time is null.
type stamp time.Time

// MarshalJSON implements json.Marshaler.
func (s stamp) MarshalJSON() ([]byte, error) {
	t := time.Time(s)
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().AppendFormat(nil, `"`+history.TimeLayout+`"`), nil
}

// nullable writes a text; the empty text is null.
type nullable string

// MarshalJSON implements json.Marshaler.
func (n nullable) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(n))
}

// bounded gives a value as it is, or what stands for one that is too large; no value is null.
func bounded(value json.RawMessage, limit int) json.RawMessage {
	if len(value) == 0 {
		return json.RawMessage("null")
	}
	if len(value) <= limit {
		return value
	}
	short, err := json.Marshal(struct {
		Truncated bool   `json:"$truncated"`
		Bytes     int    `json:"bytes"`
		Preview   string `json:"preview"`
	}{true, len(value), characters(string(value), previewLength)})
	if err != nil {
		return json.RawMessage("null") // a struct of a number and a text encodes
	}
	return short
}

// characters is the first n code points of s.
func characters(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// cut shortens s to at most limit bytes at a code point.
func cut(s string, limit int) (short string, truncated bool) {
	if len(s) <= limit {
		return s, false
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit], true
}

// page collects encoded entries while the answer stays within its bound; the first one always fits.
type page struct {
	room    int
	entries []json.RawMessage
}

// newPage is a page of an answer whose other members take frame bytes.
func newPage(limit, frame int) *page {
	return &page{room: limit - frame, entries: []json.RawMessage{}}
}

// add takes an entry, or reports that the page ends before it.
func (p *page) add(v any) (full bool, err error) {
	entry, err := mcp.Encode(v)
	if err != nil {
		return false, err
	}
	size := len(entry) + 1
	if len(p.entries) > 0 && size > p.room {
		return true, nil
	}
	p.room -= size
	p.entries = append(p.entries, entry)
	return false, nil
}

// bounds gives the size limits of one call: smaller ones when the caller left the number of entries to the server.
func (s *Service) bounds(hasLimit bool) (pageBytes, valueBytes int) {
	if hasLimit {
		return s.maxResult, maxValue
	}
	return min(s.maxResult, maxPageDefault), maxValueDefault
}

type failure struct {
	Code       string   `json:"code"`
	Message    string   `json:"message"`
	Step       nullable `json:"step"`
	ActivityID *int64   `json:"activity_id"`
}

func toFailure(f *history.Failure) *failure {
	if f == nil {
		return nil
	}
	return &failure{Code: f.Code, Message: f.Message, Step: nullable(f.Step), ActivityID: f.ActivityID}
}

// ending is how a run stands, the members that several answers share.
type ending struct {
	Status    string          `json:"status"`
	StartedAt stamp           `json:"started_at"`
	EndedAt   stamp           `json:"ended_at"`
	Outcome   nullable        `json:"outcome"`
	Result    json.RawMessage `json:"result"`
	Failure   *failure        `json:"failure"`
}

func toEnding(r runs.Summary) ending {
	return ending{
		Status: string(r.Status), StartedAt: stamp(r.StartedAt), EndedAt: stamp(r.EndedAt),
		Outcome: nullable(r.Outcome), Result: bounded(r.Result, maxValue), Failure: toFailure(r.Failure),
	}
}

// address names a run.
type address struct {
	Namespace  string `json:"namespace"`
	WorkflowID string `json:"workflow_id"`
	RunID      string `json:"run_id"`
}
