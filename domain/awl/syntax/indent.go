package syntax

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"aion/domain/awl/diag"
)

// level is one open block: where its lines should stand, and where its first line did.
type level struct{ want, width int }

// beginLine stands at the start of a physical line. It reads blank lines and whole-line comments, and then decides what
// the next line of code is to the ones before it: a continuation, a sibling, a deeper block or the end of blocks.
func (s *scanner) beginLine() {
	s.lineHead = false
	for {
		margin := s.margin()
		switch {
		case s.atEnd():
			s.endDocument()
			return
		case s.atEOL():
			s.blankLine()
			s.newline()
		case strings.HasPrefix(s.rest(), "//"):
			s.comment(margin.width)
			if !s.atEnd() {
				s.newline()
			}
		default:
			s.lineHead = false
			s.codeLine(margin)
			return
		}
	}
}

// margin is the space before a line.
type margin struct {
	width int // columns, a tab counting two
	tab   *diag.Pos
}

func (s *scanner) margin() margin {
	var m margin
	for {
		switch s.peek() {
		case ' ':
			m.width++
		case '\t':
			if m.tab == nil {
				at := s.pos
				m.tab = &at
			}
			m.width += 2
		default:
			if n := s.oddSpaces(); n > 0 {
				m.width += n
				continue
			}
			if s.atEnd() || !isControl(s.peek()) || s.atEOL() {
				return m
			}
		}
		s.advance()
	}
}

// oddSpaces reports a run of spaces that are none of the language where a line is indented, and gives the columns that they
// stand for, so that the line is read where its author sees it.
func (s *scanner) oddSpaces() int {
	start, width, first := s.pos, 0, ""
	for !s.atEnd() && s.peek() >= utf8.RuneSelf {
		c, n := utf8.DecodeRuneInString(s.rest())
		if !unicode.Is(unicode.Zs, c) {
			break
		}
		if width == 0 {
			first = s.rest()[:n]
		}
		if width++; c == '\u3000' { // as wide as two
			width++
		}
		s.advance()
	}
	if width > 0 {
		d := diag.New("AWL0012", s.spanFrom(start), "c", first)
		d.Fix = &diag.Fix{Span: d.Span, Text: strings.Repeat(" ", width)}
		s.found.add(d)
	}
	return width
}

// isControl says whether a byte is a control character of ASCII; they are reported, and else ignored.
func isControl(c byte) bool { return c < ' ' || c == 0x7f }

func (s *scanner) blankLine() {
	p := &s.pending
	switch {
	case len(p.docs) > 0: // a doc belongs to what follows, however far
	case len(p.comments)+len(p.narration) > 0:
		p.blankAfter = true
	default:
		p.blank = true
	}
}

// comment reads one whole-line comment or doc line.
func (s *scanner) comment(width int) {
	p := &s.pending
	start := s.pos
	text := strings.TrimRight(s.toEOL(), "\r")
	line := docLine{span: s.spanFrom(start)}
	switch {
	case strings.HasPrefix(text, "//!"):
		line.text = docText(text[3:])
		if len(p.narration) == 0 {
			p.above = len(p.comments)
			p.gap = p.blankAfter && p.above > 0
		}
		p.narration = append(p.narration, line)
	case strings.HasPrefix(text, "///") && !strings.HasPrefix(text, "////"):
		line.text = docText(text[3:])
		p.docs = append(p.docs, line)
	default:
		c := Comment{Text: commentText(text), BlankBefore: p.blankAfter || len(p.comments) == 0 && p.blank}
		p.comments = append(p.comments, placedComment{c, width})
		p.blankAfter = false
	}
}

// codeLine places a line of code; its first character is next.
func (s *scanner) codeLine(m margin) {
	s.pending.first = true
	closed := s.bracketsOpen()
	if closed {
		if !s.recipe && !s.mustClose() {
			return
		}
		s.closeAll()
	}
	top := s.levels[len(s.levels)-1]
	if s.inLine {
		if !closed && !s.inRecipe(m.width) && m.width > max(top.want, top.width) && (s.prev.kind == comma || s.continues()) {
			s.checkTab(m)
			return
		}
		s.endLine()
	}
	s.recipe = s.inRecipe(m.width)
	s.checkTab(m)
	s.place(m)
	if s.recipe && !s.directive() {
		s.rawLine()
	}
}

// checkTab reports a tab in the indentation of a line of code.
func (s *scanner) checkTab(m margin) {
	if m.tab == nil || s.found.full() {
		return
	}
	start, end := *m.tab, *m.tab
	end.Offset++
	end.Column++
	d := diag.New("AWL0005", diag.Span{Start: start, End: end})
	line := diag.Pos{Offset: s.pos.Offset - (s.pos.Column - 1), Line: s.pos.Line, Column: 1}
	d.Fix = &diag.Fix{Span: diag.Span{Start: line, End: s.pos}, Text: strings.Repeat(" ", m.width)}
	s.found.add(d)
}

// continues says whether the line at hand starts like the rest of a statement.
func (s *scanner) continues() bool {
	switch s.peek() {
	case '|', '+':
		return true
	case '-':
		return s.peekAt(1) == '>'
	case 'a', 'o':
		w := s.peekWord()
		return w == "and" || w == "or"
	}
	return false
}

// endLine queues the end of the logical line, placed after its last token.
func (s *scanner) endLine() {
	s.inLine = false
	end := s.prev.span.End
	s.queue = append(s.queue, token{kind: newline, span: diag.Span{Start: end, End: end}, skipped: s.skipped})
	s.skipped = false
}

// place compares the line with the open blocks and queues INDENT or DEDENT tokens. A line belongs to the block whose
// first line stood in the same column, right or wrong; then to the one whose lines should stand there; else it is
// rounded down.
func (s *scanner) place(m margin) {
	top := s.levels[len(s.levels)-1]
	if m.width-m.width%2 > max(top.want, top.width) {
		s.deeper(m, top.want+2)
		return
	}
	i := s.blockAt(func(l level) bool { return l.width == m.width })
	if i < 0 {
		i = s.blockAt(func(l level) bool { return l.want <= m.width })
		if want := s.levels[i].want; want == m.width {
			s.levels[i].width = want
		} else {
			s.badIndent(m, want)
		}
	}
	s.closeBlocks(i)
}

// blockAt is the innermost block that fits, -1 when none does.
func (s *scanner) blockAt(fits func(level) bool) int {
	for i := len(s.levels) - 1; i >= 0; i-- {
		if fits(s.levels[i]) {
			return i
		}
	}
	return -1
}

// deeper opens a block.
func (s *scanner) deeper(m margin, want int) {
	if m.width != want {
		s.badIndent(m, want)
	}
	s.levels = append(s.levels, level{want, m.width})
	if len(s.levels)-1 > MaxNesting && !s.tooDeep {
		s.tooDeep = true
		s.found.report("AWL0004", s.here(), "what", "the nesting of blocks", "limit", strconv.Itoa(MaxNesting))
	}
	s.queue = append(s.queue, token{kind: indent, span: diag.Span{Start: s.pos, End: s.pos}})
}

func (s *scanner) badIndent(m margin, want int) {
	if m.tab == nil {
		s.found.report("AWL0006", s.here(), "n", strconv.Itoa(m.width), "expected", strconv.Itoa(want))
	}
}

// here is the span of the next character.
func (s *scanner) here() diag.Span {
	end := s.pos
	end.Offset = min(end.Offset+1, len(s.src))
	end.Column++
	return diag.Span{Start: s.pos, End: end}
}

// closeBlocks queues a DEDENT for every block above level i, each with the comments that stand inside it.
func (s *scanner) closeBlocks(i int) {
	for len(s.levels)-1 > i {
		want := s.levels[len(s.levels)-1].want
		s.levels = s.levels[:len(s.levels)-1]
		end := s.prev.span.End
		t := token{kind: dedent, span: diag.Span{Start: end, End: end}}
		p := &s.pending
		n := 0
		for n < len(p.comments) && p.comments[n].width >= want {
			t.lead = append(t.lead, p.comments[n].Comment)
			n++
		}
		if n > 0 {
			p.comments = p.comments[n:]
			p.blank = len(p.comments) > 0 && p.comments[0].BlankBefore || len(p.comments) == 0 && p.blankAfter
		}
		s.queue = append(s.queue, t)
	}
}

// endDocument closes everything that is open.
func (s *scanner) endDocument() {
	s.ended = true
	s.closeAll()
	if s.inLine {
		s.endLine()
	}
	s.closeBlocks(0)
	t := token{kind: eof, span: diag.Span{Start: s.pos, End: s.pos}, skipped: s.skipped}
	p := s.pending
	for _, c := range p.comments {
		t.lead = append(t.lead, c.Comment)
	}
	t.docs, t.narration, t.above, t.gap, t.blank, t.blankAfter = p.docs, p.narration, p.above, p.gap, p.blank, p.blankAfter
	s.queue = append(s.queue, t)
}
