package action

import (
	"fmt"
	"slices"
	"strings"

	"aion/domain"
)

// The sizes that the kernel and the contract take (actions 2.2).
const (
	MaxArgument  = 131071  // bytes of one word; Linux takes no more in one argument, its NUL included
	MaxArguments = 1 << 20 // bytes of all words and environment entries, each with its NUL and its pointer
)

// World is what a command gets besides its values.
type World struct {
	Root string   // the workspace root; used only by bodies that name it
	Env  []string // NAME=value, in order; the body's exports come after it and replace entries of the same name
}

// Command is a body with its values: what is executed.
type Command struct {
	Name    string // of the command; empty for `run`
	Lines   [][]string
	Dir     string // empty: the attempt's own scratch directory
	Env     []string
	Capture Capture
}

// Render binds the input to the body (actions 1.2 row 7, 2.1, 2.2). No value is split: the number of words depends on
// values only where a list spreads or an absent optional leaves.
func (p *Prepared) Render(in Input, w World) (Command, *Failed) {
	for _, name := range sortedNames(in) {
		if !p.declared[name] {
			return Command{}, terminal(CodeArgumentUndeclared,
				"the input has the member `%s`, which the action does not declare; remove it, or declare the parameter",
				domain.Quote(name, quotedValue))
		}
	}
	r := renderer{p: p, in: in, root: w.Root}
	c := Command{Name: p.name, Capture: p.capture, Env: r.env(w.Env)}
	if len(p.cwd) > 0 {
		dir, f := r.text(p.cwd, true)
		if f != nil {
			return Command{}, f
		}
		c.Dir = dir
	}
	for _, line := range p.lines {
		argv, f := r.line(line, c.Env)
		if f != nil {
			return Command{}, f
		}
		c.Lines = append(c.Lines, argv)
	}
	return c, nil
}

func sortedNames(in Input) []string {
	names := make([]string, 0, len(in))
	for name := range in {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

type renderer struct {
	p    *Prepared
	in   Input
	root string
}

func (r renderer) env(base []string) []string {
	env := slices.Clone(base)
	for _, v := range r.p.env {
		prefix := v.name + "="
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, prefix) })
		env = append(env, prefix+fixed(v.pieces, r.root))
	}
	return env
}

func (r renderer) line(words []Word, env []string) ([]string, *Failed) {
	var argv []string
	var total size
	if f := total.add("entry %d of the environment", 1, env); f != nil {
		return nil, f
	}
	script, dashes := Script(words), false
	for i, w := range words {
		if text, literal := w.Literal(); literal && text == "--" {
			dashes = true
		}
		args, f := r.word(w)
		if f != nil {
			return nil, f
		}
		positional := script >= 0 && i > script
		if name, guarded := r.guarded(w); guarded && !dashes && !positional && len(args) == 1 && strings.HasPrefix(args[0], "-") {
			return nil, terminal(CodeLeadingDash, "the value of parameter `%s` begins with `-` (%s) and would be read as an option of "+
				"`%s`; write a literal `--` before the hole, or give the word a literal prefix such as `--name={{%s}}`",
				name, domain.Quote(args[0], quotedValue), domain.Quote(fixed(words[0].Pieces, r.root), quotedValue), name)
		}
		if f := total.add("word %d of the command"+from(w.Pieces), len(argv)+1, args); f != nil {
			return nil, f
		}
		argv = append(argv, args...)
	}
	return argv, nil
}

// guarded reports whether a value decides the first character of a word, and names its parameter. A list does not
// count: it is how an author passes options on.
func (r renderer) guarded(w Word) (name string, guarded bool) {
	first := w.Pieces[0].Hole
	return first, first != "" && r.p.slots[first].kind == KindOne
}

func (r renderer) word(w Word) ([]string, *Failed) {
	if name, whole := w.WholeHole(); whole {
		return r.values(name)
	}
	text, f := r.text(w.Pieces, hasRoot(w.Pieces))
	if f != nil {
		return nil, f
	}
	return []string{text}, nil
}

// values gives the arguments of a hole that is a word of its own.
func (r renderer) values(name string) ([]string, *Failed) {
	s := r.p.slots[name]
	if s.kind == KindOne {
		if s.fallback == nil && s.optional && r.in.absent(name) {
			return nil, nil
		}
		value, f := r.single(name)
		return []string{value}, f
	}
	if r.in.absent(name) {
		if s.optional && s.kind == KindList {
			return nil, nil
		}
		return nil, absent(name)
	}
	args, f := many(name, r.in[name])
	if f == nil && s.kind == KindList1 && len(args) == 0 {
		return nil, terminal(CodeValueAbsent, "parameter `%s` needs at least one value, and the list is empty", name)
	}
	return args, f
}

func (r renderer) single(name string) (string, *Failed) {
	if !r.in.absent(name) {
		return one(name, r.in[name])
	}
	if fallback := r.p.slots[name].fallback; fallback != nil {
		return *fallback, checkNul(name, *fallback)
	}
	return "", absent(name)
}

func absent(name string) *Failed {
	return terminal(CodeValueAbsent, "parameter `%s` has no value in the input; pass one, or make the parameter optional", name)
}

// text renders pieces to one text that is never split, and keeps paths below the workspace root there. In a path, no
// value may climb.
func (r renderer) text(pieces []Piece, isPath bool) (string, *Failed) {
	var b strings.Builder
	for _, p := range pieces {
		switch {
		case p.Lit != nil:
			b.WriteString(*p.Lit)
		case p.Root:
			b.WriteString(r.root)
		default:
			value, f := r.single(p.Hole)
			if f == nil && isPath {
				f = checkClimb(p.Hole, value)
			}
			if f != nil {
				return "", f
			}
			b.WriteString(value)
		}
		if b.Len() > MaxArgument { // a value may stand in it a thousand times
			return "", argumentTooLarge("a word of the command"+from(pieces), b.Len())
		}
	}
	if f := r.checkInside(pieces); f != nil {
		return "", f
	}
	return b.String(), nil
}

// checkClimb refuses a value with a `..` component in a path.
func checkClimb(name, value string) *Failed {
	if !slices.Contains(strings.Split(value, "/"), "..") {
		return nil
	}
	return terminal(CodePathTraversal, "the value of parameter `%s` (%s) has the path component `..`; pass a path that stays below "+
		"the directory it is used in", name, domain.Quote(value, quotedValue))
}

// checkInside walks over what follows each workspace root in a text: the path may not leave it. The rule is lexical.
func (r renderer) checkInside(pieces []Piece) *Failed {
	for i, p := range pieces {
		if !p.Root {
			continue
		}
		var after strings.Builder
		for _, q := range pieces[i+1:] {
			if q.Root {
				break
			}
			if q.Lit != nil {
				after.WriteString(*q.Lit)
				continue
			}
			value, f := r.single(q.Hole)
			if f != nil {
				return f
			}
			if after.Len() == 0 && value != "" && value[0] != '/' {
				return leaves(pieces, value)
			}
			after.WriteString(value)
		}
		if climbs(after.String()) {
			return leaves(pieces, after.String())
		}
	}
	return nil
}

func leaves(pieces []Piece, after string) *Failed {
	return terminal(CodePathTraversal, "a path%s leaves {workspace_root} (%s); pass a path that stays below it",
		from(pieces), domain.Quote(after, quotedValue))
}

// from names the parameters whose values stand in a text; empty: none.
func from(pieces []Piece) string {
	var names []string
	for _, p := range pieces {
		if name := "`" + p.Hole + "`"; p.Hole != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if names == nil {
		return ""
	}
	return " (from " + strings.Join(names, ", ") + ")"
}

// climbs reports whether a path goes above where it began. Its first element continues the name of the root itself.
func climbs(after string) bool {
	depth := 0
	for i, element := range strings.Split(after, "/") {
		switch {
		case element == "..":
			depth--
		case element != "" && element != "." && i > 0:
			depth++
		}
		if depth < 0 {
			return true
		}
	}
	return false
}

// size counts what execve copies. It is kept while words are made, so that hostile values never fill the memory first.
type size int

func (s *size) add(what string, number int, words []string) *Failed {
	for i, word := range words {
		if len(word) > MaxArgument {
			return argumentTooLarge(fmt.Sprintf(what, number+i), len(word))
		}
		*s += size(len(word) + 9) // its NUL and its pointer
	}
	if *s > MaxArguments {
		return terminal(CodeArgumentsTooLarge, "the arguments and the environment have more than %d bytes, which is what a command takes "+
			"at most; write the values to a file and pass its path", MaxArguments)
	}
	return nil
}

func argumentTooLarge(what string, have int) *Failed {
	return terminal(CodeArgumentTooLarge, "%s has %d bytes, and one argument takes at most %d; write the value to a file and pass "+
		"its path", what, have, MaxArgument)
}
