package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"aion/domain/awl/diag"
	"aion/domain/awl/guide"
)

// guideFlags are those of `awl guide`.
type guideFlags struct{ codes, card, json bool }

func newGuideCommand(p *Program) *cobra.Command {
	var f guideFlags
	cmd := &cobra.Command{
		Use:     "guide [WORD]",
		Short:   "explain the language: every word, one word with an example, the findings, or all of it on one card",
		Example: "  aion awl guide collect\n  aion awl guide AWL3006\n  aion awl guide --card",
		Args:    arguments(0, 1, "at most one word"),
		RunE: func(_ *cobra.Command, words []string) error {
			if f.card && (f.codes || f.json || len(words) > 0) || f.codes && len(words) > 0 {
				return &usage{message: "aion awl guide takes a word, --codes or --card, and one of them at a time", hint: "aion awl guide --card"}
			}
			switch {
			case f.card:
				_, err := fmt.Fprint(p.Out, guide.Card())
				return err
			case f.codes:
				return f.catalogue(p, diag.Catalogue())
			case len(words) == 0:
				return f.words(p)
			case strings.HasPrefix(strings.ToUpper(words[0]), "AWL"):
				return f.code(p, strings.ToUpper(words[0]))
			}
			return f.word(p, words[0])
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return &usage{message: err.Error(), hint: "a word that starts with - stands behind --: aion awl guide -- '->'"}
	})
	cmd.Flags().BoolVar(&f.codes, "codes", false, "list every finding with what it says and what to do")
	cmd.Flags().BoolVar(&f.card, "card", false, "print the language card: all that an agent needs to write documents")
	cmd.Flags().BoolVar(&f.json, "json", false, "print words or findings as JSON")
	return cmd
}

// words lists every word with one line.
func (f guideFlags) words(p *Program) error {
	all := guide.Words()
	if f.json {
		return printJSON(p.Out, all)
	}
	for _, e := range all {
		fmt.Fprintf(p.Out, "%-16s  %s\n", e.Word, e.Line)
	}
	_, err := fmt.Fprintln(p.Out, "\naion awl guide WORD explains one of them with a complete example.")
	return err
}

func (f guideFlags) word(p *Program, word string) error {
	e, near, ok := guide.Lookup(word)
	if !ok {
		wrong := &usage{message: fmt.Sprintf("%q is no word of the language", word), hint: "aion awl guide lists the words"}
		if near != "" {
			wrong.hint = "did you mean: aion awl guide " + near
		}
		return wrong
	}
	if f.json {
		return printJSON(p.Out, e)
	}
	fmt.Fprintf(p.Out, "%s: %s\n\n%s\n", e.Word, e.Line, wrapped(e.Meaning))
	if e.Grammar != "" {
		fmt.Fprintf(p.Out, "\nGrammar\n\n%s\n", indented(e.Grammar))
	}
	_, err := fmt.Fprintf(p.Out, "\nExample\n\n%s\n", indented(strings.TrimRight(e.Example, "\n")))
	return err
}

// code is a row of the catalogue of findings.
type code struct {
	Code    string `json:"code"`
	Class   string `json:"class"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	At      string `json:"at"`
	Hint    string `json:"hint"`
}

func (f guideFlags) code(p *Program, name string) error {
	e, ok := diag.Lookup(name)
	if !ok {
		return &usage{message: fmt.Sprintf("there is no finding %q", name), hint: "aion awl guide --codes lists them"}
	}
	return f.catalogue(p, []diag.Entry{e})
}

func (f guideFlags) catalogue(p *Program, entries []diag.Entry) error {
	if f.json {
		rows := make([]code, len(entries))
		for i, e := range entries {
			at := e.At
			if at == "tok" {
				at = "the offending token"
			}
			rows[i] = code{e.Code, e.Severity.String(), e.Rule, e.Message, at, e.Hint}
		}
		return printJSON(p.Out, rows)
	}
	for _, e := range entries {
		if _, err := fmt.Fprintf(p.Out, "%s %s: %s\n  says: %s\n  hint: %s\n", e.Code, e.Severity, e.Rule, e.Message, e.Hint); err != nil {
			return err
		}
	}
	return nil
}

// wrapWidth is the width of running text.
const wrapWidth = 96

// wrapped breaks a text between words.
func wrapped(text string) string {
	var b strings.Builder
	width := 0
	for word := range strings.FieldsSeq(text) {
		n := len([]rune(word))
		switch {
		case width == 0:
		case width+1+n > wrapWidth:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += n
	}
	return b.String()
}

func indented(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		if line != "" {
			b.WriteString("  " + line)
		}
	}
	return b.String()
}
