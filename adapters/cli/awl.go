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
	cmd := &cobra.Command{Use: "awl", Short: "check, format, draw and explain workflow documents"}
	return group(cmd, newCheckCommand(p, g), newFormatCommand(p, g), newSchemaCommand(p, g), newGraphCommand(p, g), paged(p, g, newGuideCommand(p)),
		newNewCommand(p, g))
}

// checkFlags are those of `awl check`.
type checkFlags struct {
	output string
	strict bool
	fix    bool
}

func newCheckCommand(p *Program, g *globals) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:     "check FILE…",
		Short:   "parse and type-check documents; - reads standard input",
		Example: "  aion awl check examples/hello.awl\n  aion awl check --fix draft.awl",
		Args:    arguments(1, -1, "at least one file"),
		RunE:    func(_ *cobra.Command, names []string) error { return f.checkAll(p, g, names) },
	}
	cmd.Flags().BoolVar(&f.strict, "warnings-as-errors", false, "exit 1 on warnings too")
	cmd.Flags().BoolVar(&f.fix, "fix", false, "make the fixes that are certain and write the file; - prints the mended text")
	outputFlag(cmd, &f.output)
	return cmd
}

// checkAll judges files in turn. Under -o json their reports are printed as one list.
func (f *checkFlags) checkAll(p *Program, g *globals, names []string) error {
	bad := false
	var reports []checked
	for _, name := range names {
		if name == "-" && f.fix && f.output == "json" {
			return &usage{
				message: "--fix writes the mended text of standard input to standard output, where -o json writes the report",
				hint:    "name a file, or leave one of the two out",
			}
		}
		src, report, err := f.check(p, g, name)
		if err != nil {
			return err
		}
		bad = bad || !report.OK || f.strict && len(report.Diagnostics) > 0
		if f.output == "json" {
			reports = append(reports, checkedJSON(src, report))
		}
	}
	if f.output == "json" {
		if err := printJSON(p.Out, reports); err != nil {
			return err
		}
	}
	if bad {
		return status(exitNo)
	}
	return nil
}

// check judges one file, mends it under --fix, and prints what is said about it unless that goes into a report.
func (f *checkFlags) check(p *Program, g *globals, name string) (source, awl.Report, error) {
	src, err := readSource(p, name)
	if err != nil {
		return src, awl.Report{}, err
	}
	var report awl.Report
	if f.fix {
		src, report, err = mend(p, src)
		if err != nil {
			return src, report, err
		}
	} else {
		report = awl.Check(src.text, src.options())
	}
	if f.output == "json" {
		return src, report, nil
	}
	p.findings(g, src, report.Diagnostics)
	if report.OK && (name != "-" || !f.fix) {
		fmt.Fprintf(p.Out, "ok: %s (%d steps)\n", src.name, report.Steps)
	}
	return src, report, nil
}

// mend makes the fixes of a document. A file is written when it changed; the text of standard input is printed.
func mend(p *Program, src source) (source, awl.Report, error) {
	text, made, report := awl.Fix(src.text, src.options())
	changed := !bytes.Equal(text, src.text)
	src.text = text
	for _, title := range made {
		fmt.Fprintf(p.Err, "fixed: %s: %s\n", src.name, printable(title))
	}
	if src.dir == "" {
		_, err := p.Out.Write(text)
		return src, report, err
	}
	if !changed {
		return src, report, nil
	}
	return src, report, replaceFile(src.name, text)
}

// findings prints what the checker says: with source line and caret on a terminal, one line each elsewhere.
func (p *Program) findings(g *globals, src source, list []diag.Diagnostic) {
	for _, d := range list {
		if p.ErrTerminal {
			fmt.Fprint(p.Err, diag.Render(src.name, src.text, d, g.color(p)))
			continue
		}
		fmt.Fprintln(p.Err, diag.Line(src.name, d))
		if advice := d.Advice(src.text); advice != "" {
			fmt.Fprintf(p.Err, "  hint: %s\n", advice)
		}
	}
}

// replaceFile writes a file beside its goal and renames it, so that an interrupted write leaves the old text whole.
func replaceFile(name string, text []byte) error {
	info, err := os.Stat(name)
	if err != nil {
		return fileRefusal("read", name, err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".aion-*")
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
