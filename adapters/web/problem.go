package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"aion/domain"
)

// problem is the wire form of a refusal over HTTP (RFC 9457, server 2).
type problem struct {
	Type      string         `json:"type"`
	Title     string         `json:"title"`
	Status    int            `json:"status"`
	Detail    string         `json:"detail"`
	Instance  string         `json:"instance"`
	Code      domain.Code    `json:"code"`
	ErrorType string         `json:"error_type"`
	Message   string         `json:"message"`
	Details   map[string]any `json:"details"`
}

// WriteProblem answers with a refusal as application/problem+json. An error that is no refusal is answered as
// backend/Internal with nothing of its text.
func WriteProblem(w http.ResponseWriter, r *http.Request, status int, err error) {
	reference := RequestID(r)
	var refusal *domain.Error
	if !errors.As(err, &refusal) {
		refusal = Internal(reference)
		status = http.StatusInternalServerError
	}
	body, fault := json.Marshal(Problem(r, status, refusal))
	if fault != nil { // only details could do that
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.ContentLength != 0 && r.Body != http.NoBody && r.ProtoMajor == 1 {
		h.Set("Connection", "close") // else net/http would wait for the body before it answers
	}
	if status == http.StatusUnauthorized && h.Get("WWW-Authenticate") == "" {
		h.Set("WWW-Authenticate", `Bearer realm="aion"`) // HTTP wants one with every 401
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that left is not told
}

// Problem is the wire form of a refusal: what a stream sends in place of an answer.
func Problem(r *http.Request, status int, refusal *domain.Error) any {
	details := refusal.Details
	if details == nil {
		details = map[string]any{}
	}
	return problem{
		Type: "urn:aion:problem:" + string(refusal.Code), Title: title(refusal.Code), Status: status,
		Detail: refusal.Message, Instance: "urn:aion:request:" + RequestID(r),
		Code: refusal.Code, ErrorType: refusal.Type, Message: refusal.Message, Details: details,
	}
}

// Internal is the refusal for a defect: nothing but the reference under which the log holds the cause.
func Internal(reference string) *domain.Error {
	return &domain.Error{
		Code: domain.CodeBackend, Type: "Internal",
		Message: "the server failed at this request; its log holds the cause under reference " + reference,
	}
}

func title(code domain.Code) string {
	switch code {
	case domain.CodeUnauthenticated:
		return "No valid credential was sent"
	case domain.CodeNamespaceDenied, domain.CodeDeployDenied, domain.CodeWorkerDenied, domain.CodeOriginDenied, domain.CodeInsufficientScope:
		return "The caller may not do this"
	case domain.CodeNotFound:
		return "There is no such thing"
	case domain.CodeInvalidInput, domain.CodeUnknownQuery:
		return "The request cannot be accepted"
	case domain.CodeInvalidState, domain.CodeNotRunning, domain.CodeIdempotencyConflict, domain.CodeVersionPinned, domain.CodeSequenceConflict:
		return "The present state does not admit this"
	case domain.CodeNotConfigured:
		return "The feature is not configured"
	case domain.CodeResourceExhausted:
		return "A limit is reached"
	case domain.CodeUnavailable, domain.CodeStoreLocked:
		return "The server cannot do this now"
	case domain.CodeQueryTimeout, domain.CodeQueryFailed, domain.CodeRunFailed:
		return "The run did not answer as wanted"
	case domain.CodeBackend:
		return "The server failed"
	}
	return "The request was refused"
}
