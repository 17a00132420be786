package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"aion/domain/awl"
	"aion/domain/awl/diag"
)

func newSchemaCommand(p *Program, g *globals) *cobra.Command {
	var typeName string
	cmd := &cobra.Command{
		Use:     "schema FILE",
		Short:   "print the JSON Schema that a run's input has to fit, or the one of a type",
		Example: "  aion awl schema examples/hello.awl\n  aion awl schema examples/hello.awl --type Greeting",
		Args:    arguments(1, 1, "one file"),
		RunE: func(_ *cobra.Command, names []string) error {
			src, err := readSource(p, names[0])
			if err != nil {
				return err
			}
			schemas, report := awl.SchemasOf(src.text, src.options())
			if schemas == nil {
				p.findings(g, src, report.Diagnostics)
				return status(exitNo)
			}
			text, err := chosenSchema(src, schemas, typeName)
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := json.Indent(&b, text, "", "  "); err != nil {
				return fmt.Errorf("print schema: %w", err)
			}
			b.WriteByte('\n')
			_, err = p.Out.Write(b.Bytes())
			return err
		},
	}
	cmd.Flags().StringVar(&typeName, "type", "", "the declared type whose schema is printed")
	return cmd
}

func chosenSchema(src source, s *awl.Schemas, typeName string) (json.RawMessage, error) {
	var names []string
	for _, t := range s.Types {
		names = append(names, t.Name)
	}
	declared := "it declares " + strings.Join(names, ", ")
	if len(names) == 0 {
		declared = "it declares none"
	}
	if typeName == "" {
		if s.Input == nil {
			return nil, &usage{message: src.name + " is a worker document and has no input", hint: "--type NAME prints the schema of a type; " + declared}
		}
		return s.Input, nil
	}
	text, ok := s.Type(typeName)
	if !ok {
		wrong := &usage{message: fmt.Sprintf("%s declares no type %q", src.name, typeName), hint: declared}
		if near := diag.Closest(typeName, names); near != "" {
			wrong.hint = "did you mean " + near + "?"
		}
		return nil, wrong
	}
	return text, nil
}
