package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aion/application/backups"
	"aion/domain"
)

// Keeper makes, verifies and restores backups of the local store. All but Verify need the store for themselves.
type Keeper interface {
	// Create writes a backup to a file (empty: into backup.dir) or, when file is `-`, to out.
	Create(ctx context.Context, file string, out io.Writer, portable bool) (Made, error)
	// Verify says what is in a backup, or refuses one that does not hold.
	Verify(ctx context.Context, file string) (backups.Report, error)
	// Restore puts a backup into an empty store and workspace, or moves what is there aside, and says where to.
	Restore(ctx context.Context, file string, replace bool) (report backups.Report, aside []string, err error)
	// Check verifies the store itself.
	Check(ctx context.Context) (backups.Report, error)
	// Migrate brings the schema of the store up to date, unless it is only asked; it gives the schema that was there and the
	// changes that were due.
	Migrate(ctx context.Context, only bool) (present int64, due []Migration, err error)
}

// Made is a backup that was made.
type Made struct {
	File   string             `json:"file"`
	Bytes  int64              `json:"bytes"`
	SHA256 string             `json:"sha256"`
	Heads  []domain.AuditHead `json:"heads"`
}

func newBackupCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "backup", Short: "make, verify or restore a backup: one file with the store and the documents"}
	return group(cmd, newBackupCreate(p, g), newBackupVerify(p, g), newBackupRestore(p, g))
}

func newBackupCreate(p *Program, g *globals) *cobra.Command {
	var portable bool
	cmd := &cobra.Command{
		Use: "create [FILE]", Short: "back up the store and the documents: of a server into its folder, or of the local store when nobody has it open",
		Example: "  aion backup create\n  aion backup create --portable before.tar",
		Args:    arguments(0, 1, "at most one file; - is standard output"),
	}
	cmd.Flags().BoolVar(&portable, "portable", false, "rows instead of a SQLite file, which Postgres can take, too")
	var file string
	over := func(ctx context.Context, s *session, args []string) error {
		return s.backup(ctx, strings.Join(args, ""), portable)
	}
	cmd = asksOr(p, g, cmd, over, func(cmd *cobra.Command, shown *shape) error {
		k, err := p.Keeper(Open{Home: g.home, File: g.config, Verbose: g.verbose})
		if err != nil {
			return err
		}
		return p.interruptible(cmd.Context(), func(ctx context.Context) error {
			made, err := k.Create(ctx, file, p.Out, portable)
			if err != nil || file == "-" {
				return err
			}
			text, err := marshal(made)
			if err != nil {
				return err
			}
			return (&session{p: p, g: g, shape: *shown}).showBackup(text)
		})
	})
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		file = strings.Join(args, "")
		return run(cmd, args)
	}
	return cmd
}

// backup lets a server back itself up: the file is one of its own folder.
func (s *session) backup(ctx context.Context, file string, portable bool) error {
	if portable || file == "-" || strings.Contains(file, "/") {
		return &usage{
			message: "a server puts its backup into its own folder, as a SQLite file where its store is one",
			hint:    "give a name without a path, or stop the server for --portable, - and other places",
		}
	}
	body := map[string]any{}
	if file != "" {
		body["name"] = file
	}
	answer, err := s.post(ctx, "/backups", body, "")
	if err != nil {
		return err
	}
	return s.showBackup(answer)
}

func (s *session) showBackup(answer []byte) error {
	return s.show(answer, []string{"file"}, func(o object) error {
		return s.p.say("%s  %s bytes  sha256 %s", o.text("file"), o.text("bytes"), o.text("sha256"))
	})
}

func newBackupVerify(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "hold a backup against its hashes and every history against itself; exit 1 names the first fault",
		Example: "  aion backup verify aion-20260728T100000Z.tar",
		Args:    arguments(1, 1, "one file"),
	}
	return keeping(p, g, cmd, func(ctx context.Context, k Keeper, shown *shape, args []string) error {
		report, err := k.Verify(ctx, args[0])
		return showReport(p, shown, report, nil, err)
	})
}

func newBackupRestore(p *Program, g *globals) *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "verify a backup and put it into an empty store and workspace",
		Example: "  aion backup restore aion-20260728T100000Z.tar --replace",
		Args:    arguments(1, 1, "one file"),
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "move the store and the workspace that are there aside, to *.before-<time>")
	return keeping(p, g, cmd, func(ctx context.Context, k Keeper, shown *shape, args []string) error {
		report, aside, err := k.Restore(ctx, args[0], replace)
		return showReport(p, shown, report, aside, err)
	})
}

// keeping makes a command that works on the local store and asks no server.
func keeping(p *Program, g *globals, cmd *cobra.Command, run func(ctx context.Context, k Keeper, shown *shape, args []string) error) *cobra.Command {
	shown := &shape{}
	shown.add(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := shown.sound(cmd, ""); err != nil {
			return err
		}
		k, err := p.Keeper(Open{Home: g.home, File: g.config, Verbose: g.verbose})
		if err != nil {
			return err
		}
		return p.interruptible(cmd.Context(), func(ctx context.Context) error { return run(ctx, k, shown, args) })
	}
	return cmd
}

// shownReport is a report as JSON shows it.
type shownReport struct {
	OK          bool             `json:"ok"`
	Workflows   int64            `json:"workflows"`
	Runs        int64            `json:"runs"`
	Events      int64            `json:"events"`
	Unreplayed  int64            `json:"unreplayed"`
	Deployments int64            `json:"deployments"`
	Audit       int64            `json:"audit_records"`
	Chains      int64            `json:"audit_chains"`
	Documents   int64            `json:"documents"`
	Rows        map[string]int64 `json:"rows"`
	SHA256      string           `json:"sha256"`
	Aside       []string         `json:"moved_aside,omitempty"`
}

// showReport prints what holds. A fault that was found is an answer: it is printed, and the exit code says no.
func showReport(p *Program, shown *shape, r backups.Report, aside []string, err error) error {
	var found *domain.Error
	if errors.As(err, &found) && slices.Contains([]string{"BackupBroken", "StoreDamaged", "AuditBroken"}, found.Type) {
		printRefusal(p.Err, found)
		return status(exitNo)
	}
	if err != nil {
		return err
	}
	if shown.output != "table" {
		return printJSON(p.Out, shownReport{
			true, r.Workflows, r.Runs, r.Events, r.Unreplayed, r.Deployments, r.Audit, r.Chains, r.Documents, r.Rows, r.SHA256, aside,
		})
	}
	for _, to := range aside {
		fmt.Fprintf(p.Out, "moved aside: %s\n", to)
	}
	return p.say("all holds: %d workflows, %d runs, %d events (%d workflows not derived again), %d versions, %d audit records in %d chains, %d files; sha256 %s",
		r.Workflows, r.Runs, r.Events, r.Unreplayed, r.Deployments, r.Audit, r.Chains, r.Documents, r.SHA256)
}
