package action

import (
	"strings"
	"unicode/utf8"
)

// Line is one command line, split into words once. Words, Starts and Quoted have the same length.
type Line struct {
	Words  []Word
	Starts []int  // byte offset of each word in the text, at its opening quote when it begins with one
	Quoted []bool // whether any part of the word stood in quotes
}

// LineProblem is one defect of command text. Offset is a byte offset in the text; Pairs are the placeholders of the
// finding's message: name, value, name, value.
type LineProblem struct {
	Code   string
	Offset int
	Pairs  []string
}

// The defects that splitting finds.
const (
	ProblemEmpty       = "AWL6001" // no program
	ProblemQuote       = "AWL6002" // a quote that never closes, at the quote
	ProblemHole        = "AWL6003" // `{{` that opens no valid hole, at the `{{`
	ProblemProgramHole = "AWL6004" // the program word holds a hole, at the `{{`
)

const rootMark = "{workspace_root}"

// ParseLine splits command text into words (awl 3.4). It is the only splitter: the checker, the compiler and the
// dispatch of a `run` body all call it. The line is usable, as far as it was understood, when there are problems; it
// must not be executed then.
func ParseLine(text string) (Line, []LineProblem) {
	s := splitter{text: text, holes: true}
	for s.pos < len(text) {
		s.step()
	}
	if s.quote != 0 {
		s.report(ProblemQuote, s.quoteAt)
	}
	s.endWord()
	s.checkProgram()
	return s.line, s.problems
}

// ParsePieces reads text that is one value and is never split, such as a `cwd`: holes and the workspace root are found,
// quotes and blanks are text.
func ParsePieces(text string) ([]Piece, []LineProblem) {
	return parseValue(text, true)
}

// ParseExport reads the value of an `export`: literal text but for the workspace root; `{{` is text.
func ParseExport(text string) []Piece {
	pieces, _ := parseValue(text, false)
	return pieces
}

func parseValue(text string, holes bool) ([]Piece, []LineProblem) {
	s := splitter{text: text, holes: holes}
	s.openWord(0)
	for s.pos < len(text) {
		s.inside()
	}
	s.endWord()
	return s.line.Words[0].Pieces, s.problems
}

// splitter walks over the text once. A word is open while inWord is set; lit collects its literal text since litAt.
type splitter struct {
	text     string
	pos      int
	holes    bool
	line     Line
	problems []LineProblem

	quote   byte
	quoteAt int
	inWord  bool
	word    Word
	lit     strings.Builder
	litAt   int
}

func (s *splitter) step() {
	c := s.text[s.pos]
	switch {
	case s.quote == 0 && s.blank():
		s.endWord()
		s.pos++
	case s.quote == 0 && (c == '\'' || c == '"'):
		s.openWord(s.pos)
		s.line.Quoted[len(s.line.Quoted)-1] = true
		s.quote, s.quoteAt = c, s.pos
		s.pos++
	case s.quote != 0 && c == s.quote:
		s.quote = 0
		s.pos++
	default:
		s.openWord(s.pos)
		s.inside()
	}
}

// blank reports whether a separator stands at the position. CR separates only as a part of CRLF.
func (s *splitter) blank() bool {
	switch s.text[s.pos] {
	case ' ', '\t', '\n':
		return true
	case '\r':
		return strings.HasPrefix(s.text[s.pos:], "\r\n")
	default:
		return false
	}
}

// inside takes one hole, one root mark or one character into the open word.
func (s *splitter) inside() {
	rest := s.text[s.pos:]
	switch {
	case s.holes && strings.HasPrefix(rest, "{{"):
		s.hole()
	case strings.HasPrefix(rest, rootMark):
		s.piece(Piece{Root: true, Offset: s.pos})
		s.pos += len(rootMark)
	default:
		_, n := utf8.DecodeRuneInString(rest)
		if s.lit.Len() == 0 {
			s.litAt = s.pos
		}
		s.lit.WriteString(rest[:n])
		s.pos += n
	}
}

func (s *splitter) hole() {
	at := s.pos
	name, n, ok := scanHole(s.text[at:])
	s.pos += n
	if !ok {
		s.report(ProblemHole, at)
		return
	}
	s.piece(Piece{Hole: name, Offset: at})
}

// scanHole reads `{{ name }}` at the start of text and tells its length. A text that is no hole is skipped up to its
// `}}` when nothing but plain text of the same line stands before that, so that one mistake is one problem.
func scanHole(text string) (name string, n int, ok bool) {
	size := strings.IndexAny(text[2:], "{}\n")
	if size < 0 || !strings.HasPrefix(text[2+size:], "}}") {
		return "", 2, false
	}
	name = strings.Trim(text[2:2+size], " \t")
	return name, size + 4, holeName(name)
}

// holeName accepts a LABEL (awl 2.4).
func holeName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

func (s *splitter) openWord(at int) {
	if s.inWord {
		return
	}
	s.inWord = true
	s.word = Word{}
	s.line.Starts = append(s.line.Starts, at)
	s.line.Quoted = append(s.line.Quoted, false)
	s.litAt = at
}

func (s *splitter) piece(p Piece) {
	s.endLit()
	s.word.Pieces = append(s.word.Pieces, p)
}

func (s *splitter) endLit() {
	if s.lit.Len() == 0 {
		return
	}
	text := s.lit.String()
	s.lit.Reset()
	s.word.Pieces = append(s.word.Pieces, Piece{Lit: &text, Offset: s.litAt})
}

// endWord closes the open word; `”` is a word with one empty literal.
func (s *splitter) endWord() {
	if !s.inWord {
		return
	}
	s.endLit()
	if len(s.word.Pieces) == 0 {
		empty := ""
		s.word.Pieces = []Piece{{Lit: &empty, Offset: s.litAt}}
	}
	s.line.Words = append(s.line.Words, s.word)
	s.inWord = false
}

func (s *splitter) checkProgram() {
	if len(s.line.Words) == 0 {
		s.report(ProblemEmpty, 0)
		return
	}
	program := s.line.Words[0]
	for _, p := range program.Pieces {
		if p.Hole != "" {
			s.report(ProblemProgramHole, p.Offset)
			return
		}
	}
	if text, ok := program.Literal(); ok && text == "" && len(s.problems) == 0 {
		s.report(ProblemEmpty, 0)
	}
}

func (s *splitter) report(code string, at int) {
	s.problems = append(s.problems, LineProblem{Code: code, Offset: at})
}
