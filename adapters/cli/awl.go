package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"aion/domain/awl"
	"aion/domain/awl/diag"
)

func newAWLCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "awl", Short: "check and format workflow documents"}
	cmd.AddCommand(newCheckCommand(p, g), newFormatCommand(p, g))
	return cmd
}

func newCheckCommand(p *Program, g *globals) *cobra.Command {
	var output string
	var strict bool
	cmd := &cobra.Command{
		Use:     "check FILE…",
		Short:   "parse and type-check documents; - reads standard input",
		Example: "  aion awl check examples/hello.awl",
		Args:    arguments(1, -1, "at least one file"),
		RunE: func(_ *cobra.Command, names []string) error {
			bad := false
			var reports []checked
			for _, name := range names {
				src, err := readSource(p, name)
				if err != nil {
					return err
				}
				report := awl.Check(src.text, src.options())
				bad = bad || !report.OK || strict && len(report.Diagnostics) > 0
				if output == "json" {
					reports = append(reports, checkedJSON(src.name, report))
					continue
				}
				p.findings(g, src, report.Diagnostics)
				if report.OK {
					fmt.Fprintf(p.Out, "ok: %s (%d steps)\n", src.name, report.Steps)
				}
			}
			if output == "json" {
				if err := printJSON(p.Out, reports); err != nil {
					return err
				}
			}
			if bad {
				return status(exitNo)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&strict, "warnings-as-errors", false, "exit 1 on warnings too")
	outputFlag(cmd, &output)
	return cmd
}

// findings prints what the checker says: with source line and caret on a terminal, one line each elsewhere.
func (p *Program) findings(g *globals, src source, list []diag.Diagnostic) {
	for _, d := range list {
		if p.ErrTerminal {
			fmt.Fprint(p.Err, diag.Render(src.name, src.text, d, g.color(p)))
			continue
		}
		fmt.Fprintln(p.Err, diag.Line(src.name, d))
		if d.Hint != "" {
			fmt.Fprintf(p.Err, "  hint: %s\n", d.Hint)
		}
	}
}

// checked is one element of `awl check -o json`.
type checked struct {
	File         string    `json:"file"`
	OK           bool      `json:"ok"`
	DeploysGreen bool      `json:"deploys_green"`
	Steps        *int      `json:"steps"`
	Diagnostics  []finding `json:"diagnostics"`
}

type finding struct {
	Class     string `json:"class"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Hint      string `json:"hint,omitempty"`
}

func checkedJSON(name string, r awl.Report) checked {
	c := checked{File: name, OK: r.OK, DeploysGreen: r.DeploysGreen, Diagnostics: []finding{}}
	if r.OK {
		c.Steps = &r.Steps
	}
	for _, d := range r.Diagnostics {
		c.Diagnostics = append(c.Diagnostics, finding{
			Class: d.Severity.String(), Code: d.Code, Message: d.Message, Line: d.Span.Start.Line,
			Column: d.Span.Start.Column, EndLine: d.Span.End.Line, EndColumn: d.Span.End.Column, Hint: d.Hint,
		})
	}
	return c
}

func newFormatCommand(p *Program, g *globals) *cobra.Command {
	var only bool
	cmd := &cobra.Command{
		Use:     "fmt FILE…",
		Short:   "rewrite documents in their canonical form; - reads standard input and prints",
		Example: "  aion awl fmt --check examples/hello.awl",
		Args:    arguments(1, -1, "at least one file"),
		RunE: func(_ *cobra.Command, names []string) error {
			bad := false
			for _, name := range names {
				ok, err := formatOne(p, g, name, only)
				if err != nil {
					return err
				}
				bad = bad || !ok
			}
			if bad {
				return status(exitNo)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&only, "check", false, "change nothing; list files that would change and exit 1")
	return cmd
}

// formatOne answers false when the file does not parse, or would change under --check.
func formatOne(p *Program, g *globals, name string, only bool) (bool, error) {
	src, err := readSource(p, name)
	if err != nil {
		return false, err
	}
	text, findings := awl.Format(src.text)
	if text == nil {
		p.findings(g, src, findings)
		return false, nil
	}
	same := bytes.Equal(text, src.text)
	switch {
	case name == "-" && !only:
		_, err := p.Out.Write(text)
		return true, err
	case same:
		return true, nil
	case only:
		_, err := fmt.Fprintln(p.Out, name)
		return false, err
	}
	return true, replaceFile(name, text)
}

// replaceFile writes a file beside its goal and renames it, so that an interrupted format leaves the old text whole.
func replaceFile(name string, text []byte) error {
	info, err := os.Stat(name)
	if err != nil {
		return fileRefusal("read", name, err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".aion-fmt-*")
	if err != nil {
		return fileRefusal("written", name, err)
	}
	_, err = io.Copy(f, bytes.NewReader(text))
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(fileRefusal("written", name, err), os.Remove(f.Name()))
	}
	return nil
}
