package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"aion/adapters/web"
	"aion/domain"
)

// refuse answers with a refusal. What is none, and what only an operator can act on, is told as a reference; the log holds
// the cause.
func (a *API) refuse(q *request, r route, err error) {
	refusal := a.told(q.Context(), q, err)
	status := statusOf(refusal, q.Header.Get("If-Match") != "" || q.Header.Get("If-None-Match") != "")
	if status < http.StatusInternalServerError { // else nobody refused anything: what was asked for may even have happened
		a.record(q, r, refusal)
	}
	h := q.out.Header()
	for _, name := range []string{"ETag", "Location", "Content-Encoding"} {
		h.Del(name)
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && refusal.Code != domain.CodeNotConfigured {
		h.Set("Retry-After", strconv.FormatInt(retryAfter(refusal), 10))
	}
	web.WriteProblem(q.out, q.Request, status, refusal)
	q.out.WriteHeaderNow()
}

// retryAfter is in whole seconds, at least one.
func retryAfter(refusal *domain.Error) int64 {
	ms, _ := refusal.Details["retry_after_ms"].(int64)
	return max((ms+999)/1000, 1)
}

func (a *API) told(ctx context.Context, q *request, err error) *domain.Error {
	var refusal *domain.Error
	if !errors.As(err, &refusal) {
		if ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return &domain.Error{Code: domain.CodeUnavailable, Type: "DeadlineExceeded", Message: "the request was given up; look at what it did and repeat it"}
		}
		refusal = &domain.Error{Code: domain.CodeBackend, Type: "Internal"}
	}
	if refusal.Code != domain.CodeBackend && refusal.Code != domain.CodeStoreLocked && refusal.Code != "" {
		return placed(refusal)
	}
	told := "Internal" // what else a defect is called is for the log
	if refusal.Type == "StoreFault" || refusal.Type == "DocumentIoError" {
		told = refusal.Type
	}
	reference := web.RequestID(q.Request)
	a.Log.LogAttrs(ctx, slog.LevelError, "a request failed", slog.String("request_id", reference), slog.Any("error", err))
	return &domain.Error{
		Code: domain.CodeBackend, Type: told,
		Message: fmt.Sprintf("the server failed at this request; its operator finds the cause in the log under reference %s", reference),
	}
}

// placed gives a refusal of the request itself a place for what is wrong (server 2): the whole request where nothing names a
// part of it.
func placed(refusal *domain.Error) *domain.Error {
	types := []string{
		"JSONInvalid", "UnknownMember", "DuplicateMember", "SchemaViolation", "UnknownParameter", "CursorInvalid", "CursorAheadOfHistory",
	}
	if refusal.Code != domain.CodeInvalidInput || refusal.Details["errors"] != nil || !slices.Contains(types, refusal.Type) {
		return refusal
	}
	out := *refusal
	out.Details = map[string]any{"errors": []fault{{"", refusal.Message}}}
	maps.Copy(out.Details, refusal.Details)
	return &out
}

// record keeps a refused grant and a refused change in the audit log. What was changed has its record with the change; who
// is nobody has theirs where credentials are judged.
func (a *API) record(q *request, r route, refusal *domain.Error) {
	if a.Audit == nil {
		return
	}
	action, target := r.action, q.about()
	if refusal.Code == domain.CodeNamespaceDenied || refusal.Code == domain.CodeDeployDenied {
		action, target = "grant.refused", r.method+" "+prefix+r.path
	}
	if action == "" {
		return
	}
	record := q.who.Audit(action, domain.Namespace(q.param("ns")), target)
	record.Code = refusal.Code
	a.Audit(q.Context(), *record)
}

// about names what a refused change was about, in the audit log.
func (q *request) about() string {
	named := cmp.Or(q.param("wid"), q.param("type"), strings.TrimPrefix(q.param("path"), "/"), q.param("task_id"), q.param("ns"))
	return cmp.Or(named, domain.Quote(cmp.Or(q.body.free("path"), q.body.free("name")), maxTarget))
}

// maxTarget is how much of a name from a body stands in the audit log, in characters.
const maxTarget = 255

// statusOf is the one map from refusals to HTTP (server 2). byHeader says that the request had a precondition in its
// headers.
func statusOf(e *domain.Error, byHeader bool) int {
	if e.Code == domain.CodeInvalidInput {
		return inputStatus(e.Type, byHeader)
	}
	switch e.Code {
	case domain.CodeUnauthenticated:
		return http.StatusUnauthorized
	case domain.CodeNamespaceDenied, domain.CodeDeployDenied, domain.CodeWorkerDenied, domain.CodeOriginDenied, domain.CodeInsufficientScope:
		return http.StatusForbidden
	case domain.CodeNotFound:
		return http.StatusNotFound
	case domain.CodeUnknownQuery, domain.CodeInvalidInput:
		return http.StatusBadRequest
	case domain.CodeInvalidState, domain.CodeNotRunning, domain.CodeIdempotencyConflict, domain.CodeVersionPinned, domain.CodeSequenceConflict:
		return http.StatusConflict
	case domain.CodeQueryTimeout:
		return http.StatusGatewayTimeout
	case domain.CodeQueryFailed, domain.CodeRunFailed:
		return http.StatusUnprocessableEntity
	case domain.CodeNotConfigured, domain.CodeUnavailable, domain.CodeStoreLocked:
		return http.StatusServiceUnavailable
	case domain.CodeResourceExhausted:
		return http.StatusTooManyRequests
	case domain.CodeBackend:
		return http.StatusInternalServerError
	}
	return http.StatusInternalServerError
}

// inputStatus is that of invalid_input, which HTTP tells apart by type.
func inputStatus(errorType string, byHeader bool) int {
	switch errorType {
	case "MethodNotAllowed":
		return http.StatusMethodNotAllowed
	case "NotAcceptable":
		return http.StatusNotAcceptable
	case "MediaTypeUnsupported":
		return http.StatusUnsupportedMediaType
	case "BodyTooLarge", "DocumentTooLarge", "PayloadTooLarge":
		return http.StatusRequestEntityTooLarge
	case "URLTooLong":
		return http.StatusRequestURITooLong
	case "HeadersTooLarge":
		return http.StatusRequestHeaderFieldsTooLarge
	case "CheckRefused", "CompileRefused", "ResultInvalid":
		return http.StatusUnprocessableEntity
	case "PreconditionRequired":
		return http.StatusPreconditionRequired
	case "RevisionMismatch":
		if byHeader {
			return http.StatusPreconditionFailed
		}
		return http.StatusConflict
	}
	return http.StatusBadRequest
}
