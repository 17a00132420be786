package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
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

func (c *Client) refusal(a Answer) error {
	if a.Status >= 300 && a.Status <= 399 {
		return c.strange(fmt.Sprintf("answers with the redirect %d, which is not followed", a.Status))
	}
	media, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	refused := parse(a.Body)
	if media != "application/problem+json" || refused == nil {
		return c.strange(fmt.Sprintf("answers %d without saying why", a.Status))
	}
	refused.Status = a.Status
	if id := a.Header.Get("X-Request-Id"); id != "" {
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
