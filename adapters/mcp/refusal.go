package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"aion/domain"
)

func isRefusal(err error) bool {
	var refusal *domain.Error
	return errors.As(err, &refusal)
}

// refusal decides what a caller reads (mcp 2.2). What is no refusal, and what only an operator can act on, is told as a
// reference; the log holds the cause.
func (x *exchange) refusal(ctx context.Context, err error) *domain.Error {
	var refusal *domain.Error
	if !errors.As(err, &refusal) {
		if ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return &domain.Error{Code: domain.CodeUnavailable, Type: "DeadlineExceeded", Message: "the call was given up; look at what it did and repeat it later"}
		}
		refusal = &domain.Error{Code: domain.CodeBackend, Type: "Internal"}
	}
	switch refusal.Code {
	case domain.CodeBackend, domain.CodeStoreLocked, "":
		reference := x.reference()
		x.Log.LogAttrs(ctx, slog.LevelError, "a tool call failed", slog.String("request_id", reference), slog.Any("error", err))
		return &domain.Error{
			Code: domain.CodeBackend, Type: refusal.Type,
			Message: fmt.Sprintf("the server failed at this call; its operator finds the cause in the log under reference %s", reference),
		}
	case domain.CodeSequenceConflict:
		return &domain.Error{Code: domain.CodeUnavailable, Type: "StoreUnavailable", Message: "the workflow is very busy; repeat the call later"}
	case domain.CodeUnauthenticated, domain.CodeNamespaceDenied, domain.CodeDeployDenied, domain.CodeNotFound, domain.CodeInvalidInput,
		domain.CodeInvalidState, domain.CodeNotRunning, domain.CodeUnknownQuery, domain.CodeQueryTimeout, domain.CodeQueryFailed, domain.CodeRunFailed,
		domain.CodeIdempotencyConflict, domain.CodeVersionPinned, domain.CodeNotConfigured, domain.CodeResourceExhausted, domain.CodeUnavailable,
		domain.CodeOriginDenied, domain.CodeInsufficientScope, domain.CodeWorkerDenied:
	}
	return refusal
}

// encodeRefusal is a result with the two blocks: the sentence for the model, and the same for programs. structured is nil
// but for the result of a task.
func (x *exchange) encodeRefusal(refusal *domain.Error, structured []byte) []byte {
	machine := domain.AppendText([]byte(`{"code":`), string(refusal.Code))
	machine = domain.AppendText(append(machine, `,"message":`...), refusal.Message)
	machine = domain.AppendText(append(machine, `,"error_type":`...), refusal.Type)
	machine = append(machine, '}')
	body := []byte(`{"resultType":"complete","isError":true,`)
	if structured != nil {
		body = append(append(append(body, `"structuredContent":`...), structured...), ',')
	}
	body = append(body, `"content":[{"type":"text","text":`...)
	body = domain.AppendText(body, refusal.Message)
	body = domain.AppendText(append(body, `},{"type":"text","text":`...), string(machine))
	body = append(append(body, `}],`...), x.catalogue.info...)
	return append(body, '}')
}
