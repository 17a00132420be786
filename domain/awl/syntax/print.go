package syntax

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// width is how many columns a printed line may have, where it can be broken.
const width = 100

// Print gives the canonical text of a document that has no 0xxx or 1xxx findings. What other documents print to is not
// defined. Comments and docs survive; the text parses to the same document.
func Print(d *Document) []byte {
	p := &printer{opened: true}
	p.comments(0, d.Leading)
	if d.BlankAfter {
		p.blank()
	}
	for _, line := range d.Narration {
		p.line(0, marked("//!", line))
	}
	p.declarations(d)
	p.comments(0, d.Trailing)
	return p.b.Bytes()
}

// printer writes lines.
type printer struct {
	b      bytes.Buffer
	lines  int  // lines of code
	opened bool // nothing stands above in this block, so a blank line is out of place
}

// line writes one line of code, or several when the text holds a raw string or a JSON body.
func (p *printer) line(depth int, text string) {
	for range depth {
		p.b.WriteString("  ")
	}
	p.b.WriteString(text)
	p.b.WriteByte('\n')
	p.lines += 1 + strings.Count(text, "\n")
	p.opened = false
}

// open says that the line above opens a block.
func (p *printer) open() { p.opened = true }

// blank writes a blank line, unless it would open a block.
func (p *printer) blank() {
	if !p.opened {
		p.b.WriteByte('\n')
	}
	p.opened = true // two blank lines collapse
}

// lead writes what stands above a node: the author's blank line, comments and docs.
func (p *printer) lead(depth int, t *Trivia, doc []string) {
	if t.BlankBefore {
		p.blank()
	}
	for i, c := range t.Leading {
		if i > 0 && c.BlankBefore {
			p.blank()
		}
		p.line(depth, marked("//", c.Text))
	}
	if t.BlankAfter {
		p.blank()
	}
	for _, line := range doc {
		p.line(depth, marked("///", line))
	}
}

// comments writes comments that close a block or the document.
func (p *printer) comments(depth int, list []Comment) {
	for _, c := range list {
		if c.BlankBefore {
			p.blank()
		}
		p.line(depth, marked("//", c.Text))
	}
}

// marked is a comment or doc line.
func marked(marker, text string) string { return strings.TrimRight(marker+" "+text, " ") }

// trailing is the comment behind a line of code, with the space before it.
func trailing(t *Trivia) string {
	if t.Trailing == "" {
		return ""
	}
	return " " + marked("//", t.Trailing)
}

// fits says whether a text has room on its line. Of a text with a raw string or a JSON body only the first and the last
// line count: what is between cannot be broken.
func fits(depth int, text string) bool {
	first := text
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		first = text[:i]
		if utf8.RuneCountInString(text[strings.LastIndexByte(text, '\n')+1:]) > width {
			return false
		}
	}
	return 2*depth+utf8.RuneCountInString(first) <= width
}

// list is a parenthesised list between what stands before and behind it.
type list struct {
	before, after string
	items         []string
	single        bool // one value without a name, which takes no comma
	comment       string
}

func (l *list) oneLine() string {
	return l.before + "(" + strings.Join(l.items, ", ") + ")" + l.after
}

// list writes a list on one line, or broken when that has no room.
func (p *printer) list(depth int, l *list) {
	if one := l.oneLine(); len(l.items) == 0 || fits(depth, one) {
		p.line(depth, one+l.comment)
		return
	}
	p.line(depth, l.before+"(")
	for _, item := range l.items {
		if !l.single {
			item += ","
		}
		p.line(depth+1, item)
	}
	p.line(depth, ")"+l.after+l.comment)
}
