package gormstore

import (
	"cmp"
	"database/sql/driver"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/task"
	"aion/ports"
)

const (
	// Putting a key is the test for it: of two servers, one puts it.
	sqlKeyTake = sqlKeyPut + ` WHERE idempotency_keys.expires_at <= ?`
	sqlKeyDrop = `DELETE FROM idempotency_keys WHERE scope = ? AND key = ?`
	// Heads and claims are held until the commit, so that what was found stays true. One of them has a statement of its own:
	// what takes arrays would cost a lone commit a quarter of its pace.
	sqlHeadHold  = `SELECT id, head_seq FROM workflows WHERE id = ? FOR UPDATE`
	sqlHeadsHold = `SELECT id, head_seq FROM workflows WHERE id = ANY(CAST(? AS TEXT[])) ORDER BY id FOR UPDATE`
	sqlClaimHold = `SELECT workflow_id, run_id, activity_id, attempt, claim_token, state FROM activity_tasks
		WHERE workflow_id = ? AND run_id = ? AND activity_id = ? FOR UPDATE`
	sqlClaimsHold = `SELECT t.workflow_id, t.run_id, t.activity_id, t.attempt, t.claim_token, t.state
		FROM unnest(CAST(? AS TEXT[]), CAST(? AS TEXT[]), CAST(? AS BIGINT[])) AS c (workflow_id, run_id, activity_id)
		JOIN activity_tasks AS t ON t.workflow_id = c.workflow_id AND t.run_id = c.run_id AND t.activity_id = c.activity_id
		ORDER BY t.workflow_id, t.run_id, t.activity_id FOR UPDATE OF t`
	sqlHeadsAdvance = `UPDATE workflows AS w SET head_seq = m.head, current_step = m.step
		FROM unnest(CAST(? AS TEXT[]), CAST(? AS BIGINT[]), CAST(? AS TEXT[])) AS m (id, head, step) WHERE w.id = m.id`
	sqlWorkflowDrop = `DELETE FROM workflows WHERE id = ?`
)

// candidate is a commit that is being judged on Postgres.
type candidate struct {
	*history.Commit
	index int // in the group

	taken int64 // rows that the key took: 0 when it is somebody else's
	task  []driver.Value
	known bool  // there is such a task
	added int64 // rows of a new workflow: 0 when there is one
}

// found is what a wave rests on.
type found struct {
	heads  map[domain.WorkflowID]history.Seq
	claims map[history.Claim]bool
}

// waves writes commits where other servers write too. What may refuse them is found out together, in a first journey that
// takes every lock: the keys, then the tasks, then the workflows, each kind in its order, so that two servers do not wait
// for each other. Commits that share one of these go into waves of their own, one after the other.
func (t *tx) waves(commits []history.Commit, errs []error, now time.Time) error {
	var rest []*candidate
	for i := range commits {
		if errs[i] = ports.CheckCommit(&commits[i]); errs[i] == nil {
			rest = append(rest, &candidate{Commit: &commits[i], index: i})
		}
	}
	for len(rest) > 0 {
		var wave []*candidate
		wave, rest = split(rest)
		if err := t.wave(wave, errs, now); err != nil {
			return err
		}
	}
	return nil
}

// split takes the commits that share nothing with one before them.
func split(rest []*candidate) (wave, later []*candidate) {
	type name struct{ kind, scope, key string }
	seen := map[name]bool{}
	for _, c := range rest {
		names := []name{{"workflow", "", string(c.WorkflowID)}}
		if k := c.Started; k != nil {
			names = append(names, name{"key", k.Scope, k.Key}, name{"task", k.Scope, k.Task})
			if k.Task == "" {
				names = names[:2]
			}
		}
		if slices.ContainsFunc(names, func(n name) bool { return seen[n] }) {
			later = append(later, c)
		} else {
			wave = append(wave, c)
		}
		for _, n := range names { // also those of a commit that waits: what follows it waits, too
			seen[n] = true
		}
	}
	return wave, later
}

func (t *tx) wave(wave []*candidate, errs []error, now time.Time) error {
	t.askKeys(wave, now)
	have := t.askWorkflows(slices.SortedFunc(slices.Values(wave), func(a, b *candidate) int { return cmp.Compare(a.WorkflowID, b.WorkflowID) }))
	if err := t.shared.flush(t.ctx); err != nil {
		return err
	}
	for _, c := range wave {
		begun, refusal, err := ports.Judge(c.Commit, judged{c, have})
		if err != nil {
			return err
		}
		if errs[c.index] = refusal; refusal != nil {
			err = t.undo(c)
		} else {
			err = t.write(c, begun)
		}
		if err != nil {
			return err
		}
	}
	if err := t.advanceAll(); err != nil {
		return err
	}
	events := t.events
	t.events = nil
	return t.addEvents(events)
}

// advanceAll moves the heads of the workflows whose runs have not changed.
func (t *tx) advanceAll() error {
	moved := t.moved
	t.moved = nil
	switch len(moved) {
	case 0:
		return nil
	case 1:
		query, args := advancing(moved[0])
		return t.send(query, args...)
	}
	ids, heads, steps := make([]string, len(moved)), make([]int64, len(moved)), make([]string, len(moved))
	for i, c := range moved {
		ids[i], heads[i], steps[i] = string(c.WorkflowID), c.ExpectedSeq+int64(len(c.Events)), currentStep(c.Current)
	}
	return t.send(sqlHeadsAdvance, ids, heads, steps)
}

// askKeys takes the keys of the starts and holds the tasks that wait for them.
func (t *tx) askKeys(wave []*candidate, now time.Time) {
	starts := slices.DeleteFunc(slices.Clone(wave), func(c *candidate) bool { return c.Started == nil })
	slices.SortFunc(starts, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.Started.Scope, b.Started.Scope), cmp.Compare(a.Started.Key, b.Started.Key))
	})
	for _, c := range starts {
		t.shared.count(&c.taken, sqlKeyTake, append(keyRow(c.Started), micros(now)))
	}
	slices.SortFunc(starts, func(a, b *candidate) int { return cmp.Compare(a.Started.Task, b.Started.Task) })
	for _, c := range starts {
		if c.Started.Task != "" {
			c.task = make([]driver.Value, mcpTaskWidth)
			t.shared.ask(&c.known, c.task, sqlMCPTaskHold, []driver.Value{c.Started.Task})
		}
	}
}

// askWorkflows holds the heads and the claims of a wave. A new workflow cannot be held, so it is added.
func (t *tx) askWorkflows(wave []*candidate) found {
	have := found{map[domain.WorkflowID]history.Seq{}, map[history.Claim]bool{}}
	var heads, workflows, runs []string
	var activities []int64
	for _, c := range wave {
		if c.ExpectedSeq > 0 {
			heads = append(heads, string(c.WorkflowID))
		}
		for _, claim := range c.Claims {
			workflows, runs = append(workflows, string(claim.Key.WorkflowID)), append(runs, string(claim.Key.RunID))
			activities = append(activities, claim.Key.ActivityID)
		}
	}
	switch len(heads) {
	case 0:
	case 1:
		t.shared.each(have.head, sqlHeadHold, []driver.Value{heads[0]})
	default:
		t.shared.each(have.head, sqlHeadsHold, []driver.Value{heads})
	}
	switch len(activities) {
	case 0:
	case 1:
		t.shared.each(have.claim, sqlClaimHold, []driver.Value{workflows[0], runs[0], activities[0]})
	default:
		t.shared.each(have.claim, sqlClaimsHold, []driver.Value{workflows, runs, activities})
	}
	for _, c := range wave {
		if c.ExpectedSeq == 0 {
			query, args := advancing(c.Commit)
			t.shared.count(&c.added, query, args)
		}
	}
	return have
}

// head takes the head of a workflow that is held.
func (f found) head(row []driver.Value) {
	id, _ := row[0].(string)
	f.heads[domain.WorkflowID(id)], _ = row[1].(int64)
}

// claim takes a task that is claimed. Nobody holds a parked one, so its token is 0.
func (f found) claim(row []driver.Value) {
	workflow, _ := row[0].(string)
	run, _ := row[1].(string)
	activity, _ := row[2].(int64)
	attempt, _ := row[3].(int64)
	token, _ := row[4].(int64)
	state, _ := row[5].(string)
	if state == string(history.TaskStarted) && token != 0 || state == string(history.TaskParked) && token == 0 {
		key := domain.AttemptKey{WorkflowID: domain.WorkflowID(workflow), RunID: domain.RunID(run), ActivityID: activity, Attempt: int(attempt)}
		f.claims[history.Claim{Key: key, Token: token}] = true
	}
}

func claimRow(c history.Claim) []driver.Value {
	return append(keyArgs(c.Key), c.Token)
}

// judged implements ports.Grounds for a candidate whose wave was found out.
type judged struct {
	*candidate
	found
}

// KeyFree implements ports.Grounds.
func (j judged) KeyFree(*history.Idempotency) (bool, error) { return j.taken == 1, nil }

// Waiting implements ports.Grounds.
func (j judged) Waiting(task.ID) (t task.Task, known bool, err error) {
	if j.known {
		t, err = toMCPTask(j.task)
	}
	return t, j.known, err
}

// Held implements ports.Grounds.
func (j judged) Held(c history.Claim) (bool, error) { return j.claims[c], nil }

// Follows implements ports.Grounds.
func (j judged) Follows(c *history.Commit) (bool, error) {
	return (c.ExpectedSeq > 0 || j.added == 1) && j.heads[c.WorkflowID] == c.ExpectedSeq, nil
}

// undo takes back what the judging of a refused commit has written.
func (t *tx) undo(c *candidate) error {
	if c.taken == 1 { // a dead key that was there is as good as none
		if err := t.send(sqlKeyDrop, c.Started.Scope, c.Started.Key); err != nil {
			return err
		}
	}
	if c.added == 1 {
		return t.send(sqlWorkflowDrop, string(c.WorkflowID))
	}
	return nil
}

func (t *tx) write(c *candidate, begun *task.Task) error {
	if c.ExpectedSeq > 0 {
		query, args := advancing(c.Commit)
		if query == sqlWorkflowAdvance {
			t.moved = append(t.moved, c.Commit) // with the others
		} else if err := t.send(query, args...); err != nil {
			return err
		}
	}
	t.told.Workflows = append(t.told.Workflows, c.WorkflowID)
	return t.contents(c.Commit, begun)
}
