package schedules

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"aion/domain"
	"aion/domain/access"
	"aion/domain/schedule"
)

// CreateRequest asks for a new schedule.
type CreateRequest struct {
	Namespace string
	ID        string // empty: minted
	Settings  schedule.Settings
	Paused    bool   // it does not fire before it is resumed
	Key       string // idempotency key; empty: none
}

// Created is the answer to a creation. Repeated says that the key had made it before.
type Created struct {
	Shown
	Repeated bool
}

// Create stores a schedule whose runs act with the grants of who, and judges its start as it would be judged now. The same
// key with the same request answers with the schedule that it made; with another request it is refused
// (IdempotencyConflict).
func (s *Service) Create(ctx context.Context, who access.Caller, req CreateRequest) (Created, error) {
	if _, err := s.Runs.Reach(ctx, who, req.Namespace); err != nil {
		return Created{}, err
	}
	if s.draining.Load() {
		return Created{}, shuttingDown()
	}
	uid := s.IDs.UUIDv7()
	id := schedule.ID(uid)
	if req.ID != "" {
		var err error
		if id, err = schedule.ParseID(req.ID); err != nil {
			return Created{}, err
		}
	}
	now := s.now()
	asked := schedule.Schedule{Namespace: domain.Namespace(req.Namespace), ID: id, UID: uid}
	if req.Key != "" {
		asked.RequestKey, asked.RequestDigest = digest(who.Owner(), req.Namespace, req.Key), digest(req.ID, req.Settings, req.Paused)
	}
	known, err := s.Store.Schedule(ctx, asked.Ref())
	if domain.CodeOf(err) == domain.CodeNotFound {
		var made bool
		if known, made, err = s.store(ctx, who, asked, req); err == nil && made {
			s.wake()
			shown, err := s.show(ctx, known)
			return Created{Shown: shown}, err
		}
	}
	if err != nil {
		return Created{}, err
	}
	if asked.RequestKey == "" || known.RequestKey != asked.RequestKey || !known.CreatedAt.After(now.Add(-s.Keys)) {
		return Created{}, schedule.Exists(id)
	}
	if known.RequestDigest != asked.RequestDigest {
		return Created{}, keyTaken(known.ID)
	}
	shown, err := s.show(ctx, known)
	return Created{Shown: shown, Repeated: true}, err
}

// store judges a new schedule and stores it, unless its key has made another one.
func (s *Service) store(ctx context.Context, who access.Caller, asked schedule.Schedule, req CreateRequest) (schedule.Schedule, bool, error) {
	zone, err := s.accept(ctx, who, asked.Ref(), req.Settings)
	if err != nil {
		return schedule.Schedule{}, false, err
	}
	now := s.now()
	v, err := schedule.New(asked.Ref(), asked.UID, req.Settings, now, zone)
	if err != nil {
		return schedule.Schedule{}, false, err
	}
	v.Creator, v.RequestKey, v.RequestDigest = creator(who), asked.RequestKey, asked.RequestDigest
	if req.Paused {
		v = v.PausedBy(who.Subject, "", now)
	}
	v.Audit = who.Audit("schedule.create", v.Namespace, string(v.ID))
	v.Audit.Detail = detail(v)
	return s.Store.CreateSchedule(ctx, v, now.Add(-s.Keys))
}

// digest is the same for equal values.
func digest(values ...any) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic("schedules: a request cannot be encoded: " + err.Error()) // it came as JSON
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func keyTaken(id schedule.ID) error {
	return &domain.Error{
		Code: domain.CodeIdempotencyConflict, Type: "IdempotencyConflict", Details: map[string]any{"schedule_id": string(id)},
		Message: fmt.Sprintf("this idempotency key was used for schedule %q with other arguments; repeat them exactly, or pass a new key", id),
	}
}

// detail is what the audit log tells of a schedule; neither its input nor what people wrote.
func detail(v schedule.Schedule) domain.Payload {
	return domain.AuditDetail(map[string]any{
		"workflow_type": v.WorkflowType, "spec": domain.Quote(v.Spec, 256), "time_zone": v.Zone, "overlap": string(v.Overlap),
		"catch_up_ms": v.CatchUp.Milliseconds(), "jitter_ms": v.Jitter.Milliseconds(), "input_bytes": len(v.Input), "revision": v.Revision,
	})
}
