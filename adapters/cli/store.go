package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// Migration is a change of the schema that is due.
type Migration struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`
	SQL     string `json:"sql"`
}

func newStoreCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "store", Short: "check the local store, or bring its schema up to date"}
	return group(cmd, newStoreCheck(p, g), newStoreMigrate(p, g))
}

func newStoreCheck(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "check", Short: "hold every history of the store against itself, as backup verify does; exit 1 names the first fault",
		Example: "  aion store check",
		Args:    arguments(0, 0, "no arguments"),
	}
	return keeping(p, g, cmd, func(ctx context.Context, k Keeper, shown *shape, _ []string) error {
		report, err := k.Check(ctx)
		return showReport(p, shown, report, nil, err)
	})
}

func newStoreMigrate(p *Program, g *globals) *cobra.Command {
	var plan bool
	cmd := &cobra.Command{
		Use: "migrate", Short: "bring the schema of the store up to date, as a start does unless store.migrate is check",
		Example: "  aion store migrate --plan\n  aion store migrate",
		Args:    arguments(0, 0, "no arguments"),
	}
	cmd.Flags().BoolVar(&plan, "plan", false, "print what is due, and change nothing")
	return keeping(p, g, cmd, func(ctx context.Context, k Keeper, shown *shape, _ []string) error {
		present, due, err := k.Migrate(ctx, plan)
		if err != nil {
			return err
		}
		if shown.output != "table" {
			return printJSON(p.Out, struct {
				Schema  int64       `json:"schema"`
				Due     []Migration `json:"due"`
				Applied bool        `json:"applied"`
			}{present, append([]Migration{}, due...), !plan})
		}
		if len(due) == 0 {
			return p.say("the store has schema %d; nothing is due", present)
		}
		for _, m := range due {
			if plan {
				fmt.Fprintf(p.Out, "-- schema %d: %s\n%s\n", m.Version, m.Name, m.SQL)
			}
		}
		if plan {
			return p.say("-- %d changes are due behind schema %d; aion store migrate makes them", len(due), present)
		}
		return p.say("the store had schema %d, and has %d", present, due[len(due)-1].Version)
	})
}
