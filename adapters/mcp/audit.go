package mcp

import (
	"context"

	"aion/domain"
)

// outcomeOK is the outcome of a call that was served, in logs and metrics.
const outcomeOK = "ok"

// audit records a refused call: one that lacks a grant, and one that would have changed something. What was changed has
// its record with the change; who is nobody has theirs where credentials are judged.
func (x *exchange) audit(ctx context.Context, t *tool, call Call, refusal *domain.Error) {
	if x.Audit == nil || refusal == nil || x.refused != nil {
		return
	}
	action, target := t.action, call.Arguments.Text(t.target)
	if refusal.Code == domain.CodeNamespaceDenied || refusal.Code == domain.CodeDeployDenied {
		action, target = "grant.refused", call.Tool
	}
	if action == "" {
		return
	}
	record := x.caller.Audit(action, domain.Namespace(call.Arguments.Text("namespace")), target)
	record.Code = refusal.Code
	x.Audit(ctx, *record)
}
