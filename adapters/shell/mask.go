package shell

import (
	"cmp"
	"slices"

	"aion/domain/action"
)

// minSecret is the length from which a text is a secret: shorter ones would mask ordinary text.
const minSecret = 8

// secrets are the texts to hide, as a tree of their bytes in which a text of any kind is read at the same cost: a byte leads
// down, or over to the longest other beginning of a secret that the text ends with.
type secrets struct {
	nodes []secretNode // the first one is the root
	first [256]int32   // the nodes below the root, by byte; 0: none
}

// secretNode stands for the bytes on the way to it.
type secretNode struct {
	child, next int32 // the first node below, and the next one beside; 0: none
	over        int32 // where its longest proper ending stands that begins a secret
	depth       int32
	hides       int32 // the length of the longest secret that the way ends with; 0: none
	char        byte
}

// newSecrets gives nil when there is nothing to hide.
func newSecrets(values []string) *secrets {
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return len(v) < minSecret })
	if len(values) == 0 {
		return nil
	}
	size := 1
	for _, v := range values {
		size += len(v)
	}
	s := &secrets{nodes: make([]secretNode, 1, size)}
	for _, v := range values {
		s.add(v)
	}
	s.connect()
	return s
}

func (s *secrets) add(value string) {
	at := int32(0)
	for i := range len(value) {
		below := s.below(at, value[i])
		if below == 0 {
			below = int32(len(s.nodes))
			s.nodes = append(s.nodes, secretNode{next: s.nodes[at].child, depth: int32(i + 1), char: value[i]})
			s.nodes[at].child = below
			if at == 0 {
				s.first[value[i]] = below
			}
		}
		at = below
	}
	s.nodes[at].hides = s.nodes[at].depth
}

// connect finds where each node leads over to: the shorter ways first, because the longer ones build on them.
func (s *secrets) connect() {
	queue := make([]int32, 1, len(s.nodes))
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		for n := s.nodes[at].child; n != 0; n = s.nodes[n].next {
			if at != 0 {
				s.nodes[n].over = s.step(s.nodes[at].over, s.nodes[n].char)
			}
			s.nodes[n].hides = cmp.Or(s.nodes[n].hides, s.nodes[s.nodes[n].over].hides)
			queue = append(queue, n)
		}
	}
}

// below gives the node that a byte leads down to; 0: none.
func (s *secrets) below(at int32, char byte) int32 {
	if at == 0 {
		return s.first[char]
	}
	n := s.nodes[at].child
	for n != 0 && s.nodes[n].char != char {
		n = s.nodes[n].next
	}
	return n
}

// step reads one byte.
func (s *secrets) step(at int32, char byte) int32 {
	for {
		n := s.below(at, char)
		if n != 0 || at == 0 {
			return n
		}
		at = s.nodes[at].over
	}
}

// mask replaces every secret in a whole text; secrets that overlap are one.
func (s *secrets) mask(text string) string {
	if s == nil {
		return text
	}
	m := masker{secrets: s}
	return string(m.take([]byte(text))) + string(m.end())
}

// verdict masks what a failure says. Its details hold numbers, and the name of a program that was masked before; a result
// was made from masked output.
func (s *secrets) verdict(v action.Verdict) action.Verdict {
	if f, failed := v.(action.Failed); failed {
		f.Message = s.mask(f.Message)
		return f
	}
	return v
}

// masker hides secrets in a stream. Bytes that may begin a secret are held back until more is known.
type masker struct {
	secrets *secrets
	at      int32  // the node of the longest end of the stream that begins a secret
	held    []byte // that end
	hidden  []span // of it, in order and apart
}

// span is a part of what is held that is hidden; begun: in front of it the mark was shown already.
type span struct {
	from, to int
	begun    bool
}

// take gives what may be shown of the stream so far. The answer is valid until the next call.
func (m *masker) take(p []byte) []byte {
	s := m.secrets
	if s == nil {
		return p
	}
	at, before := m.at, len(m.held)
	for i, char := range p {
		if at == 0 && s.first[char] == 0 {
			continue
		}
		if at = s.step(at, char); s.nodes[at].hides > 0 {
			end := before + i + 1
			m.hide(end-int(s.nodes[at].hides), end)
		}
	}
	m.at = at
	until := before + len(p) - int(s.nodes[at].depth)
	if before == 0 && len(m.hidden) == 0 { // nothing is copied that needs no change
		m.held = slices.Clone(p[until:])
		return p[:until]
	}
	return m.show(append(m.held, p...), until)
}

// end gives what was held back.
func (m *masker) end() []byte {
	shown := m.show(m.held, len(m.held))
	m.at = 0
	return shown
}

// hide notes a secret that ends with the text so far; what it overlaps is one with it.
func (m *masker) hide(from, to int) {
	s := span{from: from, to: to}
	for n := len(m.hidden); n > 0 && m.hidden[n-1].to > s.from; n-- {
		last := m.hidden[n-1]
		s.from, s.begun = min(s.from, last.from), last.begun
		m.hidden = m.hidden[:n-1]
	}
	m.hidden = append(m.hidden, s)
}

// show gives the text before a position as it may be seen, and holds the rest.
func (m *masker) show(text []byte, until int) []byte {
	out := make([]byte, 0, until)
	from, rest := 0, m.hidden[:0]
	for _, s := range m.hidden {
		if s.from < until {
			out = append(out, text[from:s.from]...)
			if !s.begun {
				out = append(out, "***"...)
			}
			from, s.begun = s.to, true
		}
		if s.to > until {
			rest = append(rest, span{max(s.from-until, 0), s.to - until, s.begun})
		}
	}
	if from < until {
		out = append(out, text[from:until]...)
	}
	m.hidden, m.held = rest, slices.Clone(text[until:])
	return out
}
