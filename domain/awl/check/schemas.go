package check

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"aion/domain/awl/diag"
	"aion/domain/awl/syntax"
	"aion/domain/schema"
)

// maxImportBytes bounds an imported schema file (awl 2.1).
const maxImportBytes = 262144

// resolveSchema types a declaration by an inline or imported schema.
func (c *checker) resolveSchema(d *declaredType) {
	src := d.decl.Schema
	raw, ok := []byte(src.Body), true
	if !src.Inline {
		raw, ok = c.load(src)
	}
	if !ok {
		return
	}
	t, problems := schema.Project(raw)
	for _, p := range problems {
		if src.Inline {
			at := within(src.Body, src.BodyPos, p.Offset)
			c.found.add(p.Code, tokenSpan(src.Body, at, p.Offset), p.Pairs...)
		} else {
			c.importProblem(src, p)
		}
	}
	if len(problems) > 0 && t.Kind == schema.Unknown {
		return
	}
	t.Name = d.decl.Name.Name
	if t.Doc == "" {
		t.Doc = strings.Join(d.decl.Doc, "\n")
	}
	d.typ = t
}

// importProblem reports a problem of an imported schema at the path, with the JSON pointer at the end of the message.
func (c *checker) importProblem(src *syntax.SchemaSource, p schema.Problem) {
	if p.Code == "AWL7001" {
		c.found.add("AWL7004", src.PathSpan, append([]string{"path", src.Path}, p.Pairs...)...)
		return
	}
	d := diag.New(p.Code, src.PathSpan, p.Pairs...)
	d.Message += " at `" + p.Pointer + "`"
	c.found.list = append(c.found.list, d)
}

// importPath is the rule for import paths (awl 4.6).
const importPath = `^([A-Za-z0-9][A-Za-z0-9._-]*/)*[A-Za-z0-9][A-Za-z0-9._-]*\.json$`

// load reads an imported schema.
func (c *checker) load(src *syntax.SchemaSource) ([]byte, bool) {
	if plain, err := regexp.MatchString(importPath, src.Path); err != nil || !plain {
		c.found.add("AWL7003", src.PathSpan, "path", src.Path)
		return nil, false
	}
	if c.imp == nil {
		c.found.add("AWL7011", src.PathSpan)
		return nil, false
	}
	raw, err := c.imp(src.Path)
	if err != nil {
		c.found.add("AWL7002", src.PathSpan, "path", src.Path)
		return nil, false
	}
	if len(raw) > maxImportBytes {
		c.found.add("AWL7010", src.PathSpan, "what", "file `"+src.Path+"`", "limit", strconv.Itoa(maxImportBytes)+" bytes")
		return nil, false
	}
	return raw, true
}

// within gives the place of a byte of a text that stands verbatim in the document.
func within(text string, start diag.Pos, offset int) diag.Pos {
	offset = min(max(offset, 0), len(text))
	at := diag.Pos{Offset: start.Offset + offset, Line: start.Line, Column: start.Column}
	before := text[:offset]
	if n := strings.Count(before, "\n"); n > 0 {
		at.Line += n
		at.Column = 1
		before = before[strings.LastIndexByte(before, '\n')+1:]
	}
	at.Column += utf8.RuneCountInString(before)
	return at
}

// tokenSpan is the span of the JSON token at a byte of a body: a string with its quotes, else one character.
func tokenSpan(text string, at diag.Pos, offset int) diag.Span {
	end := at
	rest := text[min(max(offset, 0), len(text)):]
	width := 1
	if strings.HasPrefix(rest, `"`) {
		if i := strings.IndexAny(rest[1:], "\"\\\n"); i >= 0 && rest[i+1] == '"' {
			width = utf8.RuneCountInString(rest[:i+2])
		}
	}
	for i, r := range rest {
		if width == 0 {
			break
		}
		width--
		end = diag.Pos{Offset: at.Offset + i + utf8.RuneLen(r), Line: at.Line, Column: end.Column + 1}
	}
	return diag.Span{Start: at, End: end}
}
