package action

import (
	"path"
	"strings"
)

// Literal gives the text of a word without holes and root; ok tells whether it is one.
func (w Word) Literal() (text string, ok bool) {
	var b strings.Builder
	for _, p := range w.Pieces {
		if p.Lit == nil {
			return "", false
		}
		b.WriteString(*p.Lit)
	}
	return b.String(), true
}

// WholeHole gives the name of the hole that is the whole word.
func (w Word) WholeHole() (name string, ok bool) {
	if len(w.Pieces) == 1 && w.Pieces[0].Hole != "" {
		return w.Pieces[0].Hole, true
	}
	return "", false
}

// Plain gives the words as a plan keeps them: without offsets.
func (l Line) Plain() []Word {
	words := make([]Word, len(l.Words))
	for i, w := range l.Words {
		words[i].Pieces = PlainPieces(w.Pieces)
	}
	return words
}

// PlainPieces gives pieces as a plan keeps them: without offsets.
func PlainPieces(pieces []Piece) []Piece {
	plain := make([]Piece, len(pieces))
	for i, p := range pieces {
		p.Offset = 0
		plain[i] = p
	}
	return plain
}

// ShellSyntax reports whether word i looks like shell syntax that no shell will read (AWL6010), and the text to quote.
// It never does on a line whose program is a shell.
func (l Line) ShellSyntax(i int) (text string, found bool) {
	if IsShell(l.Words) || l.Quoted[i] || i == 0 {
		return "", false
	}
	first := l.Words[i].Pieces[0]
	if first.Lit == nil {
		return "", false
	}
	switch *first.Lit {
	case "|", "||", "&&", ";", "&":
		return *first.Lit, len(l.Words[i].Pieces) == 1
	}
	for _, start := range []string{">", "<", "2>"} {
		if strings.HasPrefix(*first.Lit, start) {
			return *first.Lit, true
		}
	}
	return "", false
}

// IsShell reports whether the program of a line is one of the shells that awl 3.4 names, by its last path element.
func IsShell(words []Word) bool {
	if len(words) == 0 {
		return false
	}
	program, ok := words[0].Literal()
	if !ok {
		return false
	}
	switch path.Base(program) {
	case "sh", "bash", "dash", "zsh", "ksh":
		return true
	default:
		return false
	}
}

// Script gives the index of the word that a shell reads as its script: the first word after the options, when one of
// them is `-c` or a group such as `-ec`. It is -1 when the program is no shell or gets no script. The words after it are
// positional parameters.
func Script(words []Word) int {
	if !IsShell(words) {
		return -1
	}
	reads := false
	for i := 1; i < len(words); i++ {
		option, literal := words[i].Literal()
		if !literal || len(option) < 2 || option[0] != '-' && option[0] != '+' {
			return scriptAt(i, reads)
		}
		if option == "--" {
			return scriptAt(i+1, reads && i+1 < len(words))
		}
		if strings.HasPrefix(option, "--") {
			if option == "--rcfile" || option == "--init-file" {
				i++
			}
			continue
		}
		reads = reads || option[0] == '-' && strings.Contains(option, "c")
		// Each `o` takes the name of a setting: `-euo pipefail -c …`.
		i += strings.Count(option, "o") + strings.Count(option, "O")
	}
	return -1
}

func scriptAt(i int, reads bool) int {
	if !reads {
		return -1
	}
	return i
}
