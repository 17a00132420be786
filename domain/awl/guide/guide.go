package guide

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"aion/domain/awl/diag"
)

//go:embed card.md grammar.ebnf examples/*.awl templates/*.awl
var files embed.FS

// Entry explains one word, or one mark, of the language.
type Entry struct {
	Word    string `json:"word"`
	Line    string `json:"line"`    // what it is, in one line
	Meaning string `json:"meaning"` // what it does
	Grammar string `json:"grammar"` // the productions it occurs in; empty for a mark of the lexer
	Example string `json:"example"` // a complete document that uses it
}

// Words lists every word of the language in the order of reading: document, types, operations, flow, expressions. The
// result belongs to the caller.
func Words() []Entry {
	var all []Entry
	rules := productions()
	for _, w := range slices.Concat(documentWords(), typeWords(), operationWords(), flowWords(), expressionWords(), marks()) {
		var grammar []string
		for name := range strings.FieldsSeq(w.rules) {
			grammar = append(grammar, rules[name])
		}
		all = append(all, Entry{
			Word: w.word, Line: w.line, Meaning: w.meaning, Grammar: strings.Join(grammar, "\n"),
			Example: read("examples/" + w.example + ".awl"),
		})
	}
	return all
}

// Lookup explains a word. When there is none of that name, near is the one that was probably meant, or empty.
func Lookup(word string) (e Entry, near string, ok bool) {
	all := Words()
	var names []string
	for _, e := range all {
		if e.Word == word {
			return e, "", true
		}
		names = append(names, e.Word)
	}
	return Entry{}, diag.Closest(word, names), false
}

// Card is the language on a few pages, in Markdown: all that an agent needs to write documents.
func Card() string { return read("card.md") }

// Template is a document to start from.
type Template struct {
	Name  string `json:"name"`
	Title string `json:"title"` // the first line of its narration
}

// Templates lists what to start from, the simplest first.
func Templates() []Template {
	var all []Template
	for _, name := range []string{"hello", "approval", "retry", "fan_out", "loop", "compensation", "nightly"} {
		title, _, _ := strings.Cut(strings.TrimPrefix(read("templates/"+name+".awl"), "//! "), "\n")
		all = append(all, Template{Name: name, Title: title})
	}
	return all
}

// Source gives the text of a template, its workflow called workflowType; empty keeps the template's own name. The error
// names the templates that exist.
func Source(template, workflowType string) (string, error) {
	var names []string
	for _, t := range Templates() {
		names = append(names, t.Name)
	}
	if !slices.Contains(names, template) {
		return "", fmt.Errorf("there is no template %q; there are %s", template, strings.Join(names, ", "))
	}
	text := read("templates/" + template + ".awl")
	if workflowType == "" {
		return text, nil
	}
	before, after, _ := strings.Cut(text, "\nworkflow ")
	_, rest, _ := strings.Cut(after, "\n")
	return before + "\nworkflow " + workflowType + "\n" + rest, nil
}

// read gives an embedded file. A missing one is a mistake of the program.
func read(name string) string {
	b, err := files.ReadFile(path.Clean(name))
	if err != nil {
		panic("guide: " + err.Error())
	}
	return string(b)
}

// productions are the rules of the grammar by name.
func productions() map[string]string {
	rules := map[string]string{}
	name := ""
	for line := range strings.Lines(read("grammar.ebnf")) {
		head, _, isRule := strings.Cut(line, "=")
		if isRule && line[0] != ' ' {
			name = strings.TrimSpace(head)
		}
		if strings.TrimSpace(line) != "" {
			rules[name] += line
		}
	}
	for name, text := range rules {
		rules[name] = strings.TrimRight(text, "\n")
	}
	return rules
}
