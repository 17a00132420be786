package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"aion/domain"
)

// RefusedError is a refusal that a server answered with.
type RefusedError struct {
	Refusal   *domain.Error
	Status    int // of the answer
	RequestID string
}

func (r *RefusedError) Error() string { return r.Refusal.Error() }

// Unwrap gives the refusal itself.
func (r *RefusedError) Unwrap() error { return r.Refusal }

// problem is the wire form of a refusal (server 2).
type problem struct {
	Status    int            `json:"status"`
	Instance  string         `json:"instance"`
	Code      domain.Code    `json:"code"`
	ErrorType string         `json:"error_type"`
	Message   string         `json:"message"`
	Details   map[string]any `json:"details"`
}

func (c *Client) refusal(res *http.Response, body []byte) error {
	if res.StatusCode >= 300 && res.StatusCode <= 399 {
		return c.strange(fmt.Sprintf("answers with the redirect %d, which is not followed", res.StatusCode))
	}
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	refused := parse(body)
	if media != "application/problem+json" || refused == nil {
		return c.strange(fmt.Sprintf("answers %d without saying why", res.StatusCode))
	}
	refused.Status = res.StatusCode
	if id := res.Header.Get("X-Request-Id"); id != "" {
		refused.RequestID = id
	}
	return refused
}

// parse reads a problem object; nil when it is none.
func parse(body []byte) *RefusedError {
	var p problem
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	err := dec.Decode(&p)
	if wrong := err != nil || p.Code == "" || p.Message == ""; wrong {
		return nil
	}
	return &RefusedError{
		Refusal:   &domain.Error{Code: p.Code, Type: p.ErrorType, Message: p.Message, Details: p.Details},
		Status:    p.Status,
		RequestID: strings.TrimPrefix(p.Instance, "urn:aion:request:"),
	}
}
