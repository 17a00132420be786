package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// shape says how a result is shown.
type shape struct {
	output string
	json   bool
	yes    bool
}

var outputs = []string{"table", "json", "jsonl", "yaml", "id"}

func (o *shape) add(flags *pflag.FlagSet) {
	flags.StringVarP(&o.output, "output", "o", "table", strings.Join(outputs, ", "))
	flags.BoolVar(&o.json, "json", false, "the same as -o json")
}

// sound reads the flags; preferred is what the environment wants when no flag does.
func (o *shape) sound(cmd *cobra.Command, preferred string) error {
	given := cmd.Flags().Changed("output")
	if !given && preferred != "" {
		o.output = preferred
	}
	if o.json {
		if given && o.output != "json" {
			return &usage{message: "--json and -o " + o.output + " exclude each other"}
		}
		o.output = "json"
	}
	if !slices.Contains(outputs, o.output) {
		return &usage{message: fmt.Sprintf("-o takes %s; got %q", strings.Join(outputs, ", "), o.output)}
	}
	if f := cmd.Flags().Lookup("yes"); f != nil {
		o.yes = f.Value.String() == "true"
	}
	return nil
}
