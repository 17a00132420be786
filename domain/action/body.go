package action

import (
	"strings"

	"aion/domain"
)

// Prepared is a body that was read for a dispatch and waits for its values. Make it with Prepare.
type Prepared struct {
	name     string // of the command; empty for `run`
	lines    [][]Word
	cwd      []Piece
	env      []exported
	capture  Capture
	slots    map[string]slot
	declared map[string]bool // parameters of the action
}

type exported struct {
	name   string
	pieces []Piece
}

// slot is what a hole may name.
type slot struct {
	kind     string // one, list, list1, or other: a value without an argument form
	optional bool   // its absence removes its word
	fallback *string
}

// The kinds of a Parameter, and of a Param.
const (
	KindOne    = "one"
	KindList   = "list"
	KindList1  = "list1"
	KindScalar = "scalar"
	KindOther  = "other"
)

// Prepare reads a body (actions 1.2, row 5). The answer is usable for UsesRoot even when there is a failure: the body of
// a defective package, which the checker would have refused.
func Prepare(b Body, params []Param) (*Prepared, *Failed) {
	p := &Prepared{slots: map[string]slot{}, declared: map[string]bool{}}
	for _, d := range params {
		p.declared[d.Name] = true
	}
	switch {
	case b.Run != nil && b.Command == nil:
		p.capture = b.Run.Capture
		for _, d := range params {
			p.slots[d.Name] = runSlot(d)
		}
		line, problems := ParseLine(b.Run.Command)
		p.lines = [][]Word{line.Words}
		if len(problems) > 0 {
			return p, unparsable("%s at byte %d of the command", problemText(problems[0].Code), problems[0].Offset)
		}
	case b.Command != nil && b.Run == nil:
		p.command(*b.Command, params)
	default:
		return p, unparsable("it is neither `run` nor `runs command`")
	}
	return p, p.defect()
}

func runSlot(d Param) slot {
	kind := KindOther
	switch d.Kind {
	case KindScalar:
		kind = KindOne
	case KindList:
		kind = KindList
	}
	return slot{kind: kind, optional: d.Optional}
}

func (p *Prepared) command(c CommandBody, params []Param) {
	optional := map[string]bool{}
	for _, d := range params {
		optional[d.Name] = d.Optional
	}
	p.name, p.capture, p.lines, p.cwd = c.Command.Name, c.Capture, c.Command.Lines, c.Command.Cwd
	for _, d := range c.Command.Params {
		s := slot{kind: d.Kind, fallback: d.Default}
		s.optional = optional[d.Name] && d.Kind == KindList
		p.slots[d.Name] = s
	}
	for _, v := range c.Command.Env {
		p.env = append(p.env, exported{name: v.Name, pieces: ParseExport(v.Value)})
	}
}

func problemText(code string) string {
	switch code {
	case ProblemEmpty:
		return "there is no program"
	case ProblemQuote:
		return "a quote is never closed"
	case ProblemHole:
		return "`{{` opens no valid hole"
	default:
		return "the program comes from a parameter"
	}
}

func unparsable(format string, args ...any) *Failed {
	return terminal(CodeBodyUnparsable, "the body cannot be executed: "+format+"; correct the document and deploy it again", args...)
}

// defect finds what the checker refuses and a dispatch must not run.
func (p *Prepared) defect() *Failed {
	if len(p.lines) == 0 {
		return unparsable("it has no command line")
	}
	for _, line := range p.lines {
		if len(line) == 0 || emptyProgram(line[0]) {
			return unparsable("a line has no program")
		}
		for i, w := range line {
			if f := p.wordDefect(w, i == 0); f != nil {
				return f
			}
		}
	}
	if len(p.cwd) > 0 && !p.cwd[0].Root && (p.cwd[0].Lit == nil || !strings.HasPrefix(*p.cwd[0].Lit, "/")) {
		return unparsable("`cwd` begins with neither `/` nor `{workspace_root}`")
	}
	for _, v := range p.env {
		if v.name == "" || strings.ContainsAny(v.name, "=\x00") || strings.HasPrefix(v.name, "AION_") {
			return unparsable("%q is no variable that a command may export", domain.Quote(v.name, quotedValue))
		}
		if f := p.wordDefect(Word{Pieces: v.pieces}, false); f != nil {
			return f
		}
	}
	return p.wordDefect(Word{Pieces: append([]Piece{{}}, p.cwd...)}, false)
}

func emptyProgram(w Word) bool {
	text, literal := w.Literal()
	return literal && text == ""
}

// wordDefect judges one word. A word of several pieces holds single values only.
func (p *Prepared) wordDefect(w Word, program bool) *Failed {
	for _, piece := range w.Pieces {
		if piece.Lit != nil && strings.ContainsRune(*piece.Lit, 0) {
			return unparsable("a word holds the character U+0000")
		}
		if piece.Hole == "" {
			continue
		}
		if program {
			return unparsable("the program comes from parameter `%s`", piece.Hole)
		}
		s, there := p.slots[piece.Hole]
		if !there {
			return unparsable("no parameter is called `%s`", domain.Quote(piece.Hole, quotedValue))
		}
		switch {
		case s.kind != KindOne && s.kind != KindList && s.kind != KindList1:
			return unparsable("parameter `%s` has no argument form", piece.Hole)
		case len(w.Pieces) > 1 && (s.kind != KindOne || s.optional && s.fallback == nil):
			return unparsable("parameter `%s` must be a word of its own", piece.Hole)
		}
	}
	return nil
}

// UsesRoot reports whether the body names `{workspace_root}` at all, and whether in a word of a line.
func (p *Prepared) UsesRoot() (anywhere, inWords bool) {
	for _, line := range p.lines {
		for _, w := range line {
			inWords = inWords || hasRoot(w.Pieces)
		}
	}
	anywhere = inWords || hasRoot(p.cwd)
	for _, v := range p.env {
		anywhere = anywhere || hasRoot(v.pieces)
	}
	return anywhere, inWords
}

func hasRoot(pieces []Piece) bool {
	for _, p := range pieces {
		if p.Root {
			return true
		}
	}
	return false
}

// Programs gives the program of each line, as it will be looked up.
func (p *Prepared) Programs(root string) []string {
	programs := make([]string, 0, len(p.lines))
	for _, line := range p.lines {
		programs = append(programs, fixed(line[0].Pieces, root))
	}
	return programs
}

// Path gives the `PATH` that the body exports.
func (p *Prepared) Path(root string) (path string, exports bool) {
	for _, v := range p.env {
		if v.name == "PATH" {
			path, exports = fixed(v.pieces, root), true
		}
	}
	return path, exports
}

// fixed renders pieces without holes.
func fixed(pieces []Piece, root string) string {
	var b strings.Builder
	for _, p := range pieces {
		switch {
		case p.Lit != nil:
			b.WriteString(*p.Lit)
		case p.Root:
			b.WriteString(root)
		}
	}
	return b.String()
}
