package wire

import (
	"encoding/json"
	"math"
	"time"
	"unicode/utf8"

	"aion/adapters/web/jsontext"
	"aion/domain"
	"aion/domain/history"
)

// MaxValue bounds one value inside an answer, unless the caller asks for whole ones.
const MaxValue = 65_536

// Whole is the bound of values that are not cut.
const Whole = math.MaxInt

// previewLength is how many characters stand for a value that is too large.
const previewLength = 1_024

// Stamp writes a time; the zero time is null.
type Stamp time.Time

// MarshalJSON implements json.Marshaler.
func (s Stamp) MarshalJSON() ([]byte, error) {
	t := time.Time(s)
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().AppendFormat(nil, `"`+history.TimeLayout+`"`), nil
}

// Nullable writes a text; the empty text is null.
type Nullable string

// MarshalJSON implements json.Marshaler.
func (n Nullable) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(n))
}

// Bounded gives a value as it is, or what stands for one that is larger than limit; no value is null.
func Bounded(value json.RawMessage, limit int) json.RawMessage {
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

// BoundedMembers replaces the members of an object that are larger than limit.
func BoundedMembers(object json.RawMessage, limit int) json.RawMessage {
	members, ok := jsontext.Members(object)
	if len(object) <= limit || !ok {
		return object
	}
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = domain.AppendText(out, m.Name)
		out = append(append(out, ':'), Bounded(m.Value, limit)...)
	}
	return append(out, '}')
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

// Page collects encoded entries while an answer stays within its bound; the first one always fits.
type Page struct {
	room    int
	Entries []json.RawMessage
}

// NewPage is a page of an answer of at most limit bytes whose other members take frame bytes.
func NewPage(limit, frame int) *Page {
	return &Page{room: limit - frame, Entries: []json.RawMessage{}}
}

// Add takes an entry, or reports that the page ends before it.
func (p *Page) Add(entry json.RawMessage) bool {
	size := len(entry) + 1
	if len(p.Entries) > 0 && size > p.room {
		return false
	}
	p.room -= size
	p.Entries = append(p.Entries, entry)
	return true
}
