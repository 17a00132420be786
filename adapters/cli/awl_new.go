package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"aion/domain/awl"
	"aion/domain/awl/guide"
)

func newNewCommand(p *Program, g *globals) *cobra.Command {
	var template string
	var list bool
	cmd := &cobra.Command{
		Use:     "new NAME",
		Short:   "write NAME.awl from a template; an existing file is left alone",
		Example: "  aion awl new nightly_report --template nightly\n  aion awl new --list",
		Args:    arguments(0, 1, "one name"),
		RunE: func(cmd *cobra.Command, names []string) error {
			if list {
				for _, t := range guide.Templates() {
					fmt.Fprintf(p.Out, "%-14s  %s\n", t.Name, t.Title)
				}
				return nil
			}
			if len(names) == 0 {
				return &usage{message: cmd.CommandPath() + " needs one name", hint: "aion awl new --list lists the templates"}
			}
			file, text, err := fromTemplate(names[0], template)
			if err != nil {
				return err
			}
			if err := createFile(file, text); err != nil {
				return err
			}
			if !g.quiet {
				fmt.Fprintf(p.Err, "wrote %s; go on with: aion awl check %s\n", file, file)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&template, "template", "hello", "what the document starts from; --list lists them")
	cmd.Flags().BoolVar(&list, "list", false, "list the templates")
	return cmd
}

// fromTemplate gives the file and the text of a new document. name may lead into a folder and may end in .awl.
func fromTemplate(name, template string) (file, text string, err error) {
	file = strings.TrimSuffix(name, ".awl") + ".awl"
	workflowType := strings.TrimSuffix(filepath.Base(file), ".awl")
	text, err = guide.Source(template, workflowType)
	if err != nil {
		return "", "", &usage{message: err.Error(), hint: "aion awl new --list shows what they are"}
	}
	// The language judges the name: it is one word of its own.
	if strings.ContainsAny(workflowType, " \t\r\n/(") || !awl.Check([]byte(text), awl.Options{}).OK {
		return "", "", &usage{
			message: fmt.Sprintf("%q is no name of a workflow: it takes lower-case letters, digits and _, starts with a letter, and is no word of the language", workflowType),
			hint:    "for example: aion awl new my_flow",
		}
	}
	return file, text, nil
}

// createFile writes a file that does not exist yet.
func createFile(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a document is no secret
	if errors.Is(err, fs.ErrExist) {
		return &usage{message: name + " exists already", hint: "choose another name, or delete the file first"}
	}
	if err != nil {
		return fileRefusal("written", name, err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fileRefusal("written", name, err), os.Remove(name))
	}
	return nil
}
