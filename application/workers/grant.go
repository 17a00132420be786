package workers

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"aion/domain"
	"aion/domain/action"
	"aion/domain/history"
	"aion/domain/worker"
	"aion/ports"
)

// Given is a task with what its worker needs. The token is in this answer and nowhere else.
type Given struct {
	Lease        history.Lease
	LeaseToken   string
	Dispatch     action.Dispatch
	WorkflowType string
	Version      string
}

// grants takes tasks for a worker, each in one commit: claim, token and start. What somebody else took meanwhile is left
// out. When the client has left, everything goes back.
func (s *Service) grants(ctx context.Context, w worker.Worker, pollID string, tasks []history.Task) ([]Given, error) {
	defer s.forget(tasks)
	if ctx.Err() != nil {
		return nil, nil
	}
	work := context.WithoutCancel(ctx)
	var given []Given
	var away error
	for _, t := range tasks {
		g, ok, err := s.grant(work, w, pollID, t)
		if err != nil {
			away = err
		}
		if ok {
			given = append(given, g)
		}
	}
	if ctx.Err() != nil {
		for _, g := range given {
			if err := s.giveBack(work, g.Lease); err != nil {
				s.Log.Warn("a task whose poll has left cannot be given back; its lease ends by itself", "task_id", g.Lease.TaskID, "error", err)
			}
		}
		return nil, nil
	}
	if len(given) > 0 {
		return given, nil
	}
	return nil, away
}

func (s *Service) grant(ctx context.Context, w worker.Worker, pollID string, t history.Task) (Given, bool, error) {
	contract, err := s.Versions.Contract(ctx, t.PackageVersion)
	if err != nil {
		return Given{}, false, err
	}
	dispatch, ok := s.Attempts.Waits(ctx, t)
	if !ok {
		return Given{}, false, nil
	}
	token, hash := s.token()
	lease := history.Lease{
		Hash: hash, TaskID: taskID(t.Key), WorkerID: w.ID, PollID: pollID, Server: s.Engine.Owner(), Namespace: t.Namespace, Key: t.Key,
	}
	s.held.Store(true)
	receipt, err := s.Engine.Do(ctx, t.Key.WorkflowID, s.Attempts.Grants(t, w.Identity, &lease, s.LeaseTTL))
	if domain.TypeOf(err) == "ClaimLost" {
		return Given{}, false, nil
	}
	if err != nil || len(receipt.Events) == 0 {
		return Given{}, false, err
	}
	return Given{Lease: lease, LeaseToken: token, Dispatch: dispatch, WorkflowType: contract.Plan.WorkflowType, Version: t.PackageVersion}, true, nil
}

// repeat gives the tasks of an earlier poll of this name again, under new tokens: nobody has those of an answer that was lost.
func (s *Service) repeat(ctx context.Context, w worker.Worker, pollID string) ([]Given, error) {
	open, err := s.Store.OpenLeases(ctx, w.ID)
	if err != nil {
		return nil, err
	}
	var given []Given
	for _, l := range open {
		if l.PollID != pollID || l.State != history.LeaseHeld {
			continue
		}
		dispatch, ok := s.Attempts.Runs(ctx, l)
		if !ok {
			continue
		}
		token, hash := s.token()
		until := s.Clock.Now().Add(s.LeaseTTL)
		held, err := s.Store.RekeyLease(ctx, l.Hash, hash, until)
		if err != nil {
			return nil, err
		}
		if !held {
			continue
		}
		if l.Hash, l.Until = hash, until; !l.Deadline.IsZero() && l.Deadline.Before(until) {
			l.Until = l.Deadline
		}
		g := Given{Lease: l, LeaseToken: token, Dispatch: dispatch}
		if err := s.describe(ctx, &g); err != nil {
			return nil, err
		}
		given = append(given, g)
	}
	return given, nil
}

// describe completes a task from the run that it belongs to.
func (s *Service) describe(ctx context.Context, g *Given) error {
	receipt, err := s.Engine.Do(ctx, g.Lease.Key.WorkflowID, nothing)
	g.WorkflowType, g.Version = receipt.Row.WorkflowType, receipt.Row.PackageVersion
	return err
}

// giveBack lets others take an attempt that has not begun, under the same number.
func (s *Service) giveBack(ctx context.Context, l history.Lease) error {
	if err := s.Tasks.Park(ctx, []history.Claim{l.Claim()}); err != nil {
		return err
	}
	_, err := s.Store.MoveLeases(ctx, []string{l.Hash}, ports.LeaseMove{From: history.LeaseHeld, To: history.LeaseEnded, End: history.LeaseReleased})
	s.Wake()
	return err
}

// token draws a lease token and its hash.
func (s *Service) token() (token, hash string) {
	bits := s.Random()
	token = base64.RawURLEncoding.EncodeToString(bits[:])
	return token, hashOf(token)
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// taskID names an attempt: the same one always.
func taskID(key domain.AttemptKey) string {
	return domain.DeriveUUID(string(key.RunID), fmt.Sprintf("task/%d/%d", key.ActivityID, key.Attempt))
}
