package runs_test

import (
	"context"
	"errors"
	"testing"

	"aion/application/runs"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/history"
)

// register answers for every namespace with one refusal, and remembers that it was asked.
type register struct {
	refusal error
	asked   int
}

func (r *register) Enter(context.Context, domain.Namespace) error { r.asked++; return r.refusal }

func (r *register) Open(context.Context, access.Caller, domain.Namespace) error {
	r.asked++
	return r.refusal
}

// everyCall makes each call of a service in a namespace. The service has no store: a look-up would panic.
func everyCall(ctx context.Context, s *runs.Service, who access.Caller, namespace string) map[string]error {
	ref := runs.Ref{Namespace: namespace, WorkflowID: "00000000-0000-4000-8000-000000000001"}
	answers := map[string]error{}
	_, answers["start"] = s.Start(ctx, who, runs.StartRequest{Namespace: namespace, WorkflowType: "w"})
	_, answers["describe"] = s.Describe(ctx, who, ref)
	_, answers["latest"] = s.Latest(ctx, who, ref)
	_, answers["list"] = s.List(ctx, who, runs.ListRequest{Namespace: namespace})
	_, answers["history"] = s.History(ctx, who, runs.HistoryRequest{Namespace: namespace, WorkflowID: ref.WorkflowID})
	answers["follow"] = s.Follow(ctx, who, runs.HistoryRequest{Namespace: namespace, WorkflowID: ref.WorkflowID}, func(history.Recorded) error { return nil })
	_, answers["signal"] = s.Signal(ctx, who, runs.SignalRequest{Ref: ref, Name: "go"})
	_, answers["query"] = s.Query(ctx, who, runs.QueryRequest{Ref: ref, Name: "state"})
	_, answers["cancel"] = s.Cancel(ctx, who, runs.CancelRequest{Ref: ref})
	_, answers["reach"] = s.Reach(ctx, who, namespace)
	return answers
}

func wantEach(t *testing.T, answers map[string]error, code domain.Code, errorType string) {
	t.Helper()
	for call, err := range answers {
		var refusal *domain.Error
		if !errors.As(err, &refusal) || refusal.Code != code || refusal.Type != errorType {
			t.Errorf("%s: got %v, want %s/%s", call, err, code, errorType)
		}
	}
}

// mcp 83: the grant is decided from the caller alone.
func TestDeniedNamespaceIsLookedUpNowhere(t *testing.T) {
	t.Parallel()
	r := &register{refusal: errors.New("asked for a namespace that is not granted")}
	s := runs.New(runs.Deps{Namespaces: r})
	ada := access.Caller{Subject: "ada", Namespaces: []domain.Namespace{"a"}, Deploy: true}
	for _, namespace := range []string{"b", "", "A", "a ", "No Name"} {
		wantEach(t, everyCall(t.Context(), s, ada, namespace), domain.CodeNamespaceDenied, "NamespaceNotGranted")
	}
	if r.asked > 0 {
		t.Errorf("the register was asked %d times", r.asked)
	}
}

func TestNamespaceThatDoesNotExistHoldsNothing(t *testing.T) {
	t.Parallel()
	r := &register{refusal: domain.NamespaceNotFound("b")}
	wantEach(t, everyCall(t.Context(), runs.New(runs.Deps{Namespaces: r}), operator, "b"), domain.CodeNotFound, "NamespaceNotFound")
	wantEach(t, everyCall(t.Context(), runs.New(runs.Deps{}), operator, "No Name"), domain.CodeNotFound, "NamespaceNotFound")
}
