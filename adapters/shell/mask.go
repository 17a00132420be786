package shell

import (
	"cmp"
	"slices"
	"strings"

	"aion/domain/action"
)

// minSecret is the length from which a value is a secret: shorter ones would mask ordinary text.
const minSecret = 8

// secrets are the values to hide, longest first, each once.
type secrets struct {
	values []string
	first  [256]bool // the bytes they begin with
}

// newSecrets gives nil when there is nothing to hide.
func newSecrets(values []string) *secrets {
	s := &secrets{}
	for _, v := range values {
		if len(v) >= minSecret {
			s.values = append(s.values, v)
			s.first[v[0]] = true
		}
	}
	if len(s.values) == 0 {
		return nil
	}
	slices.SortFunc(s.values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	s.values = slices.Compact(s.values)
	return s
}

// mask replaces every secret in a whole text.
func (s *secrets) mask(text string) string {
	if s == nil {
		return text
	}
	m := masker{secrets: s}
	return string(m.take([]byte(text))) + string(m.end())
}

// verdict masks what a failure says. A result was made from masked output.
func (s *secrets) verdict(v action.Verdict) action.Verdict {
	f, failed := v.(action.Failed)
	if s == nil || !failed {
		return v
	}
	f.Message = s.mask(f.Message)
	if f.Details != nil {
		f.Details = []byte(s.mask(string(f.Details)))
	}
	return f
}

// masker hides secrets in a stream. Bytes that may begin a secret are held back until more is known.
type masker struct {
	secrets *secrets
	held    []byte
}

// take gives what may be shown of the stream so far. The answer is valid until the next call.
func (m *masker) take(p []byte) []byte {
	if m.secrets == nil {
		return p
	}
	return m.scan(append(m.held, p...), false)
}

// end gives what was held back.
func (m *masker) end() []byte {
	if m.secrets == nil {
		return nil
	}
	return m.scan(m.held, true)
}

func (m *masker) scan(in []byte, ended bool) []byte {
	out := make([]byte, 0, len(in))
	for len(in) > 0 {
		if !m.secrets.first[in[0]] {
			out, in = append(out, in[0]), in[1:]
			continue
		}
		n, open := m.secrets.at(string(in[:min(len(in), len(m.secrets.values[0]))]))
		switch {
		case open && !ended:
			m.held = slices.Clone(in)
			return out
		case n > 0:
			out, in = append(out, "***"...), in[n:]
		default:
			out, in = append(out, in[0]), in[1:]
		}
	}
	m.held = nil
	return out
}

// at gives the length of the longest secret that text begins with; open tells that a longer one may follow.
func (s *secrets) at(text string) (n int, open bool) {
	for _, v := range s.values {
		if strings.HasPrefix(text, v) {
			return len(v), open
		}
		open = open || strings.HasPrefix(v, text)
	}
	return 0, open
}
