package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"aion/adapters/web/wire"
	"aion/application/audit"
	"aion/domain"
)

// auditRecord shows a record with the members that its hash is made of.
type auditRecord struct {
	Chain     string         `json:"chain"`
	N         int64          `json:"n"`
	At        wire.Stamp     `json:"at"`
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

func toRecord(r domain.AuditRecord) auditRecord {
	return auditRecord{
		Chain: r.Chain, N: r.N, At: wire.Stamp(r.At), Subject: r.Subject, Mode: r.Mode, Source: r.Source, Surface: r.Surface, Action: r.Action,
		Namespace: r.Namespace, Target: r.Target, Outcome: r.Outcome, Code: r.Code, RequestID: r.RequestID, Remote: r.Remote,
		Detail: r.Detail, Prev: r.Prev, Hash: r.Hash,
	}
}

func (a *API) auditRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/audit", grant: deploys, media: []string{mediaJSON, mediaLines}, timeout: deployTimeout,
			query: []string{"from", "to", "subject", "action", "namespace", "target", "outcome", "limit", "cursor"}, serve: a.listAudit,
		},
		{method: http.MethodGet, path: "/audit/verify", grant: deploys, timeout: deployTimeout, serve: a.verifyAudit},
	}
}

func (a *API) listAudit(ctx context.Context, q *request) (answer, error) {
	p := &q.query
	filter := audit.Filter{
		From: p.time("from"), To: p.time("to"), Subject: p.text("subject"), Action: p.text("action"), Namespace: p.text("namespace"), Target: p.text("target"),
	}
	if p.has("outcome") {
		filter.Outcome = p.one("outcome", domain.AuditOK, domain.AuditRefused)
	}
	limit := q.limit()
	after, err := q.afterNumber()
	if err == nil {
		err = q.whole()
	}
	if err != nil {
		return answer{}, err
	}
	if q.media == mediaLines {
		return answer{lines: func(ctx context.Context, line func(any) error) error { return a.pourAudit(ctx, q, filter, line) }}, nil
	}
	found, more, err := a.Trail.Find(ctx, q.who, filter, after, limit)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Records    []auditRecord `json:"records"`
		NextCursor wire.Nullable `json:"next_cursor"`
	}{Records: make([]auditRecord, 0, len(found))}
	for _, r := range found {
		out.Records = append(out.Records, toRecord(r))
	}
	if more {
		out.NextCursor = wire.Nullable(q.next(strconv.FormatInt(found[len(found)-1].Seq, 10)))
	}
	return answer{value: out}, nil
}

// pourAudit writes every record that the filter admits, page by page.
func (a *API) pourAudit(ctx context.Context, q *request, filter audit.Filter, line func(any) error) error {
	for after, more := int64(0), true; more; {
		found, others, err := a.Trail.Find(ctx, q.who, filter, after, maxLimit)
		if err != nil {
			return err
		}
		for _, r := range found {
			after = r.Seq
			if err := line(toRecord(r)); err != nil {
				return err
			}
		}
		more = others
	}
	return nil
}

// afterNumber is a position that is a number; 0 without a cursor.
func (q *request) afterNumber() (int64, error) {
	position, err := q.after()
	if err != nil || position == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(position, 10, 64)
	if err != nil || n < 0 {
		return 0, cursorInvalid("does not decode")
	}
	return n, nil
}

type badRecord struct {
	Chain any `json:"chain"`
	N     any `json:"n"`
}

func (a *API) verifyAudit(ctx context.Context, q *request) (answer, error) {
	trail, err := a.Trail.Check(ctx, q.who)
	var broken *domain.Error
	if err != nil && (!errors.As(err, &broken) || broken.Type != "AuditBroken") {
		return answer{}, err
	}
	out := struct {
		OK       bool       `json:"ok"`
		Records  int64      `json:"records"` // that hold
		Chains   int        `json:"chains"`
		FirstBad *badRecord `json:"first_bad"`
	}{OK: broken == nil, Records: trail.Count(), Chains: len(trail.Heads())}
	if broken != nil {
		out.FirstBad = &badRecord{Chain: broken.Details["chain"], N: broken.Details["n"]}
	}
	return answer{value: out}, nil
}
