package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aion/domain"
	"aion/domain/awl/diag"
)

// Finding is what one check of the doctor found.
type Finding struct {
	Check  string  `json:"check"`
	Status string  `json:"status"`
	Detail string  `json:"detail"`
	Fix    *string `json:"fix"` // a command to copy; nil: none
}

// The states of a check.
const (
	StatusOK   = "ok"
	StatusWarn = "warn"
	StatusFail = "fail"
)

// OK is a check that holds.
func OK(detail string) Finding { return Finding{Status: StatusOK, Detail: detail} }

// Warn is something that an operator should know. fix is a command to copy; empty: none.
func Warn(detail, fix string) Finding { return found(StatusWarn, detail, fix) }

// Fail is a check that does not hold.
func Fail(err error, fix string) Finding {
	text := err.Error()
	var refused *domain.Error
	if errors.As(err, &refused) {
		text = refused.Message
	}
	return found(StatusFail, text, fix)
}

func found(status, detail, fix string) Finding {
	f := Finding{Status: status, Detail: detail}
	if fix != "" {
		f.Fix = &fix
	}
	return f
}

// Expiry is a certificate that should be valid for two more weeks.
func Expiry(detail string, end, now time.Time) Finding {
	detail += ", certificate valid until " + end.UTC().Format(time.RFC3339)
	switch left := end.Sub(now); {
	case left <= 0:
		return found(StatusFail, detail+": it has ended; renew it, then reload the server", "")
	case left < 14*24*time.Hour:
		return Warn(detail+": renew it, then reload the server", "")
	}
	return OK(detail)
}

// Doctor looks at what stands on this machine.
type Doctor struct {
	Configured bool // the configuration is not refused
	// Local looks at one part, by the name of its check.
	Local map[string]func(ctx context.Context) []Finding
	// Replay folds every open history of the local store with this program; each hears how many are done.
	Replay func(ctx context.Context, each func(done int)) ([]Finding, error)
}

// checkNames are the checks in their order. What a server can tell of a listener, executor or audit log counts more than what this
// machine can.
var checkNames = []string{"home", "configuration", "store", "server", "auth", "listener", "mcp", "clients", "executor", "audit", "replicas"}

type doctorFlags struct {
	where

	shape              shape
	only               []string
	fix, ready, replay bool
}

func newDoctorCommand(p *Program, g *globals) *cobra.Command {
	f := &doctorFlags{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "look at home, configuration, store and server, and say what is wrong and what to do",
		Long: "Prints one line per check: ok, warn or fail, why, and a command to copy. It changes nothing but what --fix repairs.\n" +
			"Checks: " + strings.Join(checkNames, ", ") + ".",
		Example: "  aion doctor\n  aion doctor --only store -o json\n  aion doctor --replay",
		Args:    arguments(0, 0, "no arguments"),
	}
	f.add(cmd.Flags())
	f.shape.add(cmd.Flags())
	cmd.Flags().StringSliceVar(&f.only, "only", nil, "only these checks, comma-separated; may be repeated")
	cmd.Flags().BoolVar(&f.fix, "fix", false, "repair the modes of AION_HOME and of what lies in it")
	cmd.Flags().BoolVar(&f.ready, "ready", false, "only ask the server whether it is ready: the health check of a container")
	cmd.Flags().BoolVar(&f.replay, "replay", false, "only fold every open history of the local store with this program, and name the runs that differ")
	cmd.Flags().DurationVar(&f.patience, "timeout", 10*time.Second, "the longest silence of the server before it is given up")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.check(cmd); err != nil {
			return err
		}
		return p.interruptible(cmd.Context(), func(ctx context.Context) error { return f.examine(ctx, cmd, p, g) })
	}
	return cmd
}

func (f *doctorFlags) check(cmd *cobra.Command) error {
	if f.ready && f.replay || (f.ready || f.replay) && (len(f.only) > 0 || f.fix) {
		return &usage{message: "--ready and --replay are checks of their own; give one of --ready, --replay, or --only and --fix"}
	}
	if f.patience <= 0 {
		return &usage{message: fmt.Sprintf("--timeout must be more than 0; got %s", f.patience)}
	}
	for _, name := range f.only {
		if slices.Contains(checkNames, name) {
			continue
		}
		wrong := &usage{message: fmt.Sprintf("there is no check %q", cut(name, 64)), hint: "checks are " + strings.Join(checkNames, ", ")}
		if near := diag.Closest(name, checkNames); near != "" {
			wrong.hint = "did you mean: --only " + near
		}
		return wrong
	}
	return f.shape.sound(cmd, "")
}

// examine runs the wanted checks; a finding is shown as soon as it is there.
func (f *doctorFlags) examine(ctx context.Context, cmd *cobra.Command, p *Program, g *globals) error {
	d := p.Doctor(g.open(), f.fix)
	r := &doctorReport{p: p, g: g, shape: f.shape}
	switch {
	case f.ready:
		v := f.visit(cmd, p, g, d)
		defer v.close()
		r.add("ready", v.readiness(ctx))
	case f.replay:
		progress := p.progress(g, "folding open histories")
		list, err := d.Replay(ctx, progress.at)
		progress.end()
		if err != nil {
			return err
		}
		r.add("replay", list...)
	default:
		v := f.visit(cmd, p, g, d)
		defer v.close()
		if err := f.all(ctx, v, d, r); err != nil {
			return err
		}
	}
	return r.end()
}

func (f *doctorFlags) all(ctx context.Context, v *visit, d *Doctor, r *doctorReport) error {
	v.arrive(ctx)
	for _, name := range checkNames {
		if len(f.only) > 0 && !slices.Contains(f.only, name) {
			continue
		}
		look, local := d.Local[name]
		over, ok := v.checks()[name]
		if ok && (v.there || !local) {
			r.add(name, over(ctx)...)
		}
		if local && (!ok || !v.there || name == "executor" && !v.named) { // both know a part of it
			r.add(name, look(ctx)...)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// doctorReport prints findings and knows whether one failed.
type doctorReport struct {
	p     *Program
	g     *globals
	shape shape

	list   []Finding
	failed bool
	err    error
}

func (r *doctorReport) add(check string, found ...Finding) {
	for _, f := range found {
		f.Check = check
		r.failed = r.failed || f.Status == StatusFail
		r.list = append(r.list, f)
		r.show(f)
	}
}

func (r *doctorReport) show(f Finding) {
	if r.err != nil || r.g.quiet && f.Status != StatusFail {
		return
	}
	switch r.shape.output {
	case "table":
		fix := ""
		if f.Fix != nil {
			fix = *f.Fix
		}
		if !r.p.OutTerminal {
			_, r.err = fmt.Fprintf(r.p.Out, "%s\t%s\t%s\t%s\n", f.Status, f.Check, printable(f.Detail), printable(fix))
			return
		}
		if fix != "" {
			fix = "   fix: " + fix
		}
		_, r.err = fmt.Fprintf(r.p.Out, "%-4s  %-13s  %s%s\n", f.Status, f.Check, printable(f.Detail), printable(fix))
	case "id":
		if f.Status == StatusFail {
			_, r.err = fmt.Fprintln(r.p.Out, f.Check)
		}
	case "jsonl":
		text, err := marshal(f)
		r.err = errors.Join(err, printRaw(r.p.Out, text))
	}
}

func (r *doctorReport) end() error {
	if r.shape.output == "json" || r.shape.output == "yaml" {
		text, err := marshal(struct {
			OK     bool      `json:"ok"`
			Checks []Finding `json:"checks"`
		}{!r.failed, r.list})
		if err != nil {
			return err
		}
		if text = bytes.TrimSpace(text); r.shape.output == "json" {
			r.err = printRaw(r.p.Out, text)
		} else {
			r.err = printYAML(r.p.Out, text)
		}
	}
	if r.err == nil && r.failed {
		return status(exitNo)
	}
	return r.err
}
