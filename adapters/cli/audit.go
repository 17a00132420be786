package cli

import (
	"context"
	"errors"
	"fmt"

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
	cmd := &cobra.Command{Use: "audit", Short: "show or verify who changed what: of a server, or of the local store when nobody has it open"}
	return group(cmd, newAuditList(p, g), newAuditExport(p, g), newAuditVerify(p, g))
}

// auditing makes a command that asks a server when one is named or has the local store open, and else reads that store.
func auditing(p *Program, g *globals, cmd *cobra.Command, over func(context.Context, *session) error, local func(context.Context, *shape, *Audit) error) *cobra.Command {
	ask := func(ctx context.Context, s *session, _ []string) error { return over(ctx, s) }
	return asksOr(p, g, cmd, ask, func(cmd *cobra.Command, shown *shape) (err error) {
		a, err := p.Audit(cmd.Context(), Open{Home: g.home, File: g.config, Verbose: g.verbose})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, a.Close()) }()
		return local(cmd.Context(), shown, a)
	})
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

var auditColumns = []column{
	moment("AT", "at"), text("SUBJECT", "subject"), text("SURFACE", "surface"), text("ACTION", "action"), text("NAMESPACE", "namespace"),
	text("TARGET", "target"), text("OUTCOME", "outcome"), text("CODE", "code"),
}

func newAuditList(p *Program, g *globals) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "print the records, oldest first",
		Example: "  aion audit list\n  aion audit list --action run.start -o jsonl",
		Args:    arguments(0, 0, "no arguments"),
	}
	cmd.Flags().IntVar(&limit, "limit", 0, "at most so many; 0: all")
	return findsAudit(p, g, cmd, func(shown *shape) int { return limit })
}

func newAuditExport(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "export",
		Short:   "write every record as a line of JSON, oldest first",
		Example: "  aion audit export > audit.jsonl",
		Args:    arguments(0, 0, "no arguments"),
	}
	return findsAudit(p, g, cmd, func(shown *shape) int { shown.output = "jsonl"; return 0 })
}

// findsAudit makes a command that shows records; limit says how many, and may change how.
func findsAudit(p *Program, g *globals, cmd *cobra.Command, limit func(shown *shape) int) *cobra.Command {
	filters := map[string]*string{}
	for _, f := range [][2]string{
		{"from", "only records of then or later, RFC 3339"},
		{"to", "only earlier records, RFC 3339"},
		{"by", "only of this subject"},
		{"action", "only of this action, such as run.start"},
		{"in", "only in this namespace"},
		{"target", "only of this target"},
		{"outcome", "only ok, or only refused"},
	} {
		filters[f[0]] = cmd.Flags().String(f[0], "", f[1])
	}
	l := listing{path: "/audit", rows: "records", id: "hash", columns: auditColumns, none: "there is no such record"}
	return auditing(p, g, cmd, func(ctx context.Context, s *session) error {
		l.limit = limit(&s.shape)
		l.query = queryOf("from", *filters["from"], "to", *filters["to"], "subject", *filters["by"], "action", *filters["action"],
			"namespace", *filters["in"], "target", *filters["target"], "outcome", *filters["outcome"])
		return s.list(ctx, l)
	}, func(ctx context.Context, shown *shape, a *Audit) error {
		for name, value := range filters {
			if *value != "" {
				return &usage{message: fmt.Sprintf("--%s needs a server; without one all records of the local store are shown", name)}
			}
		}
		l.limit = limit(shown)
		return listAudit(ctx, &session{p: p, g: g, shape: *shown}, l, a)
	})
}

// listAudit prints the local log page by page; as JSON one record a line, so that a long log needs no memory.
func listAudit(ctx context.Context, s *session, l listing, a *Audit) error {
	const page = 500
	if s.shape.output == "json" {
		s.shape.output = "jsonl"
	}
	t := newTable(s.p.screen(), l.columns)
	for after, left := int64(0), l.limit; ; {
		size := page
		if l.limit > 0 {
			size = min(size, left)
		}
		records, err := a.Records(ctx, after, size)
		if err != nil {
			return err
		}
		for _, r := range records {
			after = r.Seq
			row, err := marshal(shownRecord{
				r.Chain, r.N, r.At.UTC().Format("2006-01-02T15:04:05.000000Z"), r.Subject, r.Mode, r.Source, r.Surface, r.Action, r.Namespace, r.Target,
				r.Outcome, r.Code, r.RequestID, r.Remote, r.Detail, r.Prev, r.Hash,
			})
			if err != nil {
				return err
			}
			if err := s.row(t, l, row); err != nil {
				return err
			}
		}
		if left -= len(records); len(records) < size || l.limit > 0 && left <= 0 {
			return t.end()
		}
	}
}

func newAuditVerify(p *Program, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "verify",
		Short:   "hold every record against its chain; exit 1 names the first one that does not hold",
		Example: "  aion audit verify",
		Args:    arguments(0, 0, "no arguments"),
	}
	return auditing(p, g, cmd, func(ctx context.Context, s *session) error {
		answer, err := s.get(ctx, "/audit/verify", nil)
		if err != nil {
			return err
		}
		o, err := parseObject(answer)
		if err != nil {
			return err
		}
		err = s.show(answer, nil, func(o object) error {
			if bad := o.object("first_bad"); bad != nil {
				return p.say("record %s of chain %s does not hold", bad.text("n"), bad.text("chain"))
			}
			return p.say("%s records in %s chains hold", o.text("records"), o.text("chains"))
		})
		if err == nil && !o.flag("ok") {
			return status(exitNo)
		}
		return err
	}, func(ctx context.Context, shown *shape, a *Audit) error {
		return verifyAudit(ctx, p, a, shown.output != "table")
	})
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
