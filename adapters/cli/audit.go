package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"aion/domain"
)

// Audit reads the audit log of the local store. Close frees the store.
type Audit struct {
	// Records returns at most limit records behind a Seq, oldest first.
	Records func(ctx context.Context, after int64, limit int) ([]domain.AuditRecord, error)
	// Verify holds every record against its chain; AuditBroken names the first one that does not hold.
	Verify func(ctx context.Context) (*domain.AuditTrail, error)
	Close  func() error
}

func newAuditCommand(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "audit", Short: "show or verify who changed what in the local store, with its server stopped"}
	return group(cmd, newAuditList(p, g), newAuditVerify(p, g))
}

// withAudit opens the log for one command.
func withAudit(ctx context.Context, p *Program, g *globals, do func(*Audit) error) (err error) {
	a, err := p.Audit(ctx, Open{Home: g.home, File: g.config, Verbose: g.verbose})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return do(a)
}

// shownRecord is a record as JSON shows it.
type shownRecord struct {
	Chain     string         `json:"chain"`
	N         int64          `json:"n"`
	At        string         `json:"at"`
	Subject   string         `json:"subject"`
	Mode      string         `json:"auth_mode"`
	Source    string         `json:"grant_source"`
	Surface   string         `json:"surface"`
	Action    string         `json:"action"`
	Namespace string         `json:"namespace"`
	Target    string         `json:"target"`
	Outcome   string         `json:"outcome"`
	Code      domain.Code    `json:"code"`
	RequestID string         `json:"request_id"`
	Remote    string         `json:"remote"`
	Detail    domain.Payload `json:"detail"`
	Prev      string         `json:"prev"`
	Hash      string         `json:"hash"`
}

func newAuditList(p *Program, g *globals) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "print the records, oldest first",
		Example: "  aion audit list\n  aion audit list -o json",
		Args:    arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withAudit(cmd.Context(), p, g, func(a *Audit) error { return listAudit(cmd.Context(), p, a, output == "json") })
		},
	}
	outputFlag(cmd, &output)
	return cmd
}

// listAudit prints page by page; as JSON one record a line, so that a long log needs no memory.
func listAudit(ctx context.Context, p *Program, a *Audit, asJSON bool) error {
	const page = 500
	for after := int64(0); ; {
		records, err := a.Records(ctx, after, page)
		if err != nil {
			return err
		}
		for _, r := range records {
			after = r.Seq
			at := r.At.UTC().Format("2006-01-02T15:04:05.000000Z")
			if asJSON {
				err = printJSON(p.Out, shownRecord{
					r.Chain, r.N, at, r.Subject, r.Mode, r.Source, r.Surface, r.Action, r.Namespace, r.Target, r.Outcome, r.Code, r.RequestID, r.Remote,
					r.Detail, r.Prev, r.Hash,
				})
			} else {
				_, err = fmt.Fprintf(p.Out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.At.UTC().Format(time.RFC3339), printable(r.Subject), r.Surface,
					r.Action, printable(r.Namespace), printable(r.Target), r.Outcome, r.Code)
			}
			if err != nil {
				return err
			}
		}
		if len(records) < page {
			return nil
		}
	}
}

func newAuditVerify(p *Program, g *globals) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "verify",
		Short:   "hold every record against its chain; exit 1 names the first one that does not hold",
		Example: "  aion audit verify",
		Args:    arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withAudit(cmd.Context(), p, g, func(a *Audit) error { return verifyAudit(cmd.Context(), p, a, output == "json") })
		},
	}
	outputFlag(cmd, &output)
	return cmd
}

func verifyAudit(ctx context.Context, p *Program, a *Audit, asJSON bool) error {
	trail, err := a.Verify(ctx)
	var broken *domain.Error
	if err != nil && (!errors.As(err, &broken) || broken.Type != "AuditBroken") {
		return err
	}
	heads := trail.Heads()
	if asJSON {
		report := struct {
			OK       bool               `json:"ok"`
			Records  int64              `json:"records"`
			Chains   int                `json:"chains"`
			FirstBad map[string]any     `json:"first_bad"`
			Heads    []domain.AuditHead `json:"heads"`
		}{OK: broken == nil, Records: trail.Count(), Chains: len(heads), Heads: heads}
		if broken != nil {
			report.FirstBad = broken.Details
		}
		if err := printJSON(p.Out, report); err != nil {
			return err
		}
	} else if broken == nil {
		fmt.Fprintf(p.Out, "%d records in %d chains hold\n", trail.Count(), len(heads))
		for _, head := range heads {
			fmt.Fprintf(p.Out, "%s\t%d\t%s\n", head.Chain, head.N, head.Hash)
		}
	}
	if broken != nil {
		printRefusal(p.Err, broken)
		return status(exitNo)
	}
	return nil
}
