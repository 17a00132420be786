package backups

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"aion/application/audit"
	"aion/domain"
	"aion/domain/deployment"
	"aion/domain/document"
	"aion/domain/history"
	"aion/domain/machine"
	"aion/domain/run"
	"aion/ports"
)

// Report is what a store holds, and that it holds what it should. Equal stores have equal reports.
type Report struct {
	Workflows int64
	Runs      int64
	Events    int64
	// Unreplayed counts the workflows whose derived events were not derived again: their version is unloaded, or they are paused
	// because of that very difference.
	Unreplayed  int64
	Deployments int64
	Audit       int64
	Chains      int64
	Documents   int64
	Rows        map[string]int64 // by table
	SHA256      string           // over all rows
}

// page is how much is read at a time.
const (
	page      = 256
	foldPage  = 128
	contracts = 64 // plans that are kept
)

// Verify reads a whole store and names the first thing that does not hold: each history is dense, decodes and folds to what the
// store says of its runs, with at most one live terminal; what was derived is derived again; each version has the hash that
// names it; the audit log holds, and has the heads that a manifest names (nil: none). A fault is refused with CodeBackend
// (StoreDamaged), or as the audit log refuses (AuditBroken).
func Verify(ctx context.Context, s Store, files ports.FileStore, heads []domain.AuditHead) (Report, error) {
	v := &verifier{store: s, report: Report{Rows: map[string]int64{}}, contracts: map[string]*deployment.Contract{}}
	for _, part := range []func(context.Context) error{
		v.deployments, v.workflows,
		func(ctx context.Context) error { return v.audit(ctx, heads) },
		func(ctx context.Context) error { return v.files(ctx, files) },
		v.rows,
	} {
		if err := part(ctx); err != nil {
			return v.report, err
		}
	}
	return v.report, nil
}

type verifier struct {
	store     Store
	report    Report
	contracts map[string]*deployment.Contract // nil: it is not loaded
}

func (v *verifier) deployments(ctx context.Context) error {
	all, err := v.store.Versions(ctx, "")
	if err != nil {
		return err
	}
	for _, short := range all {
		version, err := v.store.Version(ctx, short.ContentHash)
		if err != nil {
			return err
		}
		var imports []document.Import
		for path, body := range version.Imports {
			imports = append(imports, document.Import{Path: path, Bytes: []byte(body)})
		}
		if got := document.ContentHash([]byte(version.Source), imports); got != version.ContentHash {
			return damaged("the source of version %s has the hash %s", version.ContentHash, got)
		}
		v.report.Deployments++
	}
	return nil
}

func (v *verifier) workflows(ctx context.Context) error {
	for after := domain.WorkflowID(""); ; {
		list, err := v.store.Workflows(ctx, after, page)
		if err != nil {
			return err
		}
		for _, w := range list {
			after = w.ID
			if err := v.workflow(ctx, w); err != nil {
				return err
			}
			v.report.Workflows++
		}
		if len(list) < page {
			return nil
		}
	}
}

// workflow folds a history once more, for its projection and for what was derived.
func (v *verifier) workflow(ctx context.Context, w ports.StoredWorkflow) error {
	rows, err := v.store.Runs(ctx, w.ID)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return damaged("workflow %s has no run", w.ID)
	}
	replay, err := v.replay(ctx, rows)
	if err != nil {
		return err
	}
	f := folding{rows: rows, replay: replay}
	seq, err := v.history(ctx, w.ID, &f)
	if err != nil {
		return err
	}
	v.report.Events += seq
	v.report.Runs += int64(len(rows))
	if seq != w.Head {
		return damaged("workflow %s ends with event %d, and its head is %d", w.ID, seq, w.Head)
	}
	if last := rows[len(rows)-1]; last.RunID != w.RunID || last.Status != w.Status {
		return damaged("the latest run of workflow %s is %s (%s), and the store names %s (%s)", w.ID, last.RunID, last.Status, w.RunID, w.Status)
	}
	if err := f.end(); err != nil {
		return damaged("workflow %s: %v", w.ID, err)
	}
	return nil
}

// history feeds every event of a workflow, and gives the seq of the last one.
func (v *verifier) history(ctx context.Context, id domain.WorkflowID, f *folding) (seq history.Seq, err error) {
	for {
		events, err := v.store.History(ctx, id, seq+1, foldPage)
		if err != nil {
			return seq, err
		}
		for _, e := range events {
			if e.Seq != seq+1 {
				return seq, damaged("workflow %s has event %d where %d is due", id, e.Seq, seq+1)
			}
			if err := f.feed(e); err != nil {
				return seq, damaged("event %d of workflow %s: %v", e.Seq, id, err)
			}
			seq = e.Seq
		}
		if len(events) < foldPage {
			return seq, nil
		}
	}
}

// replay gives what derives again; nil when nothing can.
func (v *verifier) replay(ctx context.Context, rows []history.RunRow) (*machine.Replayer, error) {
	last := rows[len(rows)-1]
	faulty := strings.HasPrefix(last.PausedReason, "nondeterminism") || strings.HasPrefix(last.PausedReason, "engine_fault")
	differs := func(r history.RunRow) bool { return r.PackageVersion != last.PackageVersion }
	c, err := v.contract(ctx, last.PackageVersion)
	if err != nil || c == nil || faulty || slices.ContainsFunc(rows, differs) {
		v.report.Unreplayed++
		return nil, err
	}
	return machine.NewReplayer(c.Plan), nil
}

func (v *verifier) contract(ctx context.Context, hash string) (*deployment.Contract, error) {
	if c, known := v.contracts[hash]; known {
		return c, nil
	}
	version, err := v.store.Version(ctx, hash)
	var c *deployment.Contract
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound:
	case err != nil:
		return nil, err
	default:
		if c, err = deployment.Load(version); err != nil {
			return nil, damaged("version %s: %v", hash, err)
		}
	}
	if len(v.contracts) >= contracts {
		clear(v.contracts)
	}
	v.contracts[hash] = c
	return c, nil
}

// folding folds the runs of a workflow, one after the other.
type folding struct {
	rows   []history.RunRow
	next   int // of rows
	run    *run.Run
	replay *machine.Replayer
}

func (f *folding) feed(e history.Recorded) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be folded: %v %s", p, domain.Quote(string(debug.Stack()), 300))
		}
	}()
	if f.run == nil || f.run.ID() != e.RunID {
		if err := f.closeRun(); err != nil {
			return err
		}
		if f.next == len(f.rows) || f.rows[f.next].RunID != e.RunID || f.rows[f.next].FirstSeq != e.Seq {
			return fmt.Errorf("it begins run %s, which the store does not know", e.RunID)
		}
		f.run = run.New(f.rows[f.next].Namespace, f.rows[f.next].Generation)
		f.next++
	}
	if err := f.run.Apply(e, nil); err != nil {
		return err
	}
	if f.replay == nil {
		return nil
	}
	return f.replay.Feed(e)
}

// closeRun holds what a history folds to against the stored row.
func (f *folding) closeRun() error {
	if f.run == nil {
		return nil
	}
	got, want := f.run.Row(), f.rows[f.next-1]
	if len(got.Labels) == 0 && len(want.Labels) == 0 {
		got.Labels = want.Labels
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("run %s is %s by its history, and the store says %s, or differs in another member", want.RunID, got.Status, want.Status)
	}
	return nil
}

func (f *folding) end() error {
	if err := f.closeRun(); err != nil {
		return err
	}
	if f.next != len(f.rows) {
		return fmt.Errorf("run %s has no event", f.rows[f.next].RunID)
	}
	if f.replay == nil {
		return nil
	}
	_, err := f.replay.Done()
	return err
}

// audit holds the log against itself and against the heads that a manifest names.
func (v *verifier) audit(ctx context.Context, heads []domain.AuditHead) error {
	missing := map[domain.AuditHead]bool{}
	for _, head := range heads {
		missing[head] = true
	}
	trail, err := audit.Verify(ctx, seeing{v.store, func(r domain.AuditRecord) { delete(missing, r.Head()) }})
	if err != nil {
		return err
	}
	for head := range missing {
		return damaged("the audit log lacks record %d of chain %q with the hash %s, which the manifest names", head.N, head.Chain, head.Hash)
	}
	v.report.Audit, v.report.Chains = trail.Count(), int64(len(trail.Heads()))
	return nil
}

// seeing is an audit log that shows what is read of it.
type seeing struct {
	ports.AuditLog
	see func(domain.AuditRecord)
}

// AuditRecords implements ports.AuditLog.
func (s seeing) AuditRecords(ctx context.Context, after int64, limit int) ([]domain.AuditRecord, error) {
	records, err := s.AuditLog.AuditRecords(ctx, after, limit)
	for _, r := range records {
		s.see(r)
	}
	return records, err
}

func (v *verifier) files(ctx context.Context, files ports.FileStore) error {
	if files == nil {
		return nil
	}
	return files.Files(ctx, func(string, []byte) error { v.report.Documents++; return nil })
}

// rows counts and hashes everything.
func (v *verifier) rows(ctx context.Context) error {
	sum := sha256.New()
	err := v.store.Dump(ctx, func(table string, line []byte) error {
		v.report.Rows[table]++
		_, _ = io.WriteString(sum, table+" ") // a hash takes everything
		_, _ = sum.Write(line)
		_, _ = sum.Write([]byte{'\n'})
		return nil
	})
	v.report.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return err
}

func damaged(format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			var refusal *domain.Error
			if errors.As(err, &refusal) {
				args[i] = refusal.Message
			}
		}
	}
	return &domain.Error{
		Code: domain.CodeBackend, Type: "StoreDamaged",
		Message: "the store does not hold: " + fmt.Sprintf(format, args...) + "; restore a backup (aion backup restore FILE)",
	}
}
