package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"aion/adapters/web/jsontext"
	"aion/domain"
)

// maxDepth is how deep the values of a body nest.
const maxDepth = 64

// body is a JSON object of known members. Its getters note what does not fit, and request.whole tells it. A member that is
// null counts as absent, but for payloads.
type body struct {
	members map[string]json.RawMessage
	faults  faults
}

// readBody reads text as one object of these members; those without ? must be there.
func readBody(text []byte, known []string) (body, error) {
	if err := strict(text); err != nil {
		return body{}, err
	}
	members, ok := jsontext.Members(text)
	if !ok {
		return body{}, violations(faults{{"", "the body is one JSON object"}})
	}
	names := make([]string, 0, len(known))
	for _, k := range known {
		names = append(names, strings.TrimSuffix(k, "?"))
	}
	b := body{members: make(map[string]json.RawMessage, len(members))}
	for _, m := range members {
		if !slices.Contains(names, m.Name) {
			return body{}, &domain.Error{
				Code: domain.CodeInvalidInput, Type: "UnknownMember", Message: "the body has no member " + meant(m.Name, names),
				Details: map[string]any{"errors": []fault{{pointer(m.Name), "unknown member"}}},
			}
		}
		b.members[m.Name] = m.Value
	}
	for _, k := range known {
		if !strings.HasSuffix(k, "?") && !b.has(k) {
			b.faults.add(pointer(k), "%s is missing", k)
		}
	}
	return b, violations(b.faults)
}

// strict refuses what is not one JSON value by the rules of server 1.1.
func strict(text []byte) error {
	err := jsontext.Check(text, maxDepth)
	var wrong *jsontext.Error
	if errors.As(err, &wrong) && wrong.Fault == jsontext.Repeated {
		return &domain.Error{Code: domain.CodeInvalidInput, Type: "DuplicateMember", Message: "the body cannot be read: " + domain.Quote(wrong.Error(), 200)}
	}
	if err == nil {
		err = numbersAndNames(text)
	}
	if err != nil {
		return &domain.Error{Code: domain.CodeInvalidInput, Type: "JSONInvalid", Message: "the body is not one JSON value: " + domain.Quote(err.Error(), 200)}
	}
	return nil
}

// pointer is the JSON pointer of a member of the body.
func pointer(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(domain.Quote(name, 64))
}

// has reports whether a member is there and not null.
func (b *body) has(name string) bool {
	return b.given(name) && jsontext.KindOf(b.members[name]) != jsontext.Null
}

// given reports whether a member is there, also as null.
func (b *body) given(name string) bool { return b.members[name] != nil }

// free is a string member that may be empty; empty when it is absent.
func (b *body) free(name string) string {
	if !b.has(name) {
		return ""
	}
	text, ok := jsontext.Text(b.members[name])
	if !ok {
		b.faults.add(pointer(name), "%s is a text", name)
	}
	return text
}

// text is free for a member that must not be empty: what names nothing must not look as if it named something.
func (b *body) text(name string) string {
	text := b.free(name)
	if text == "" && jsontext.KindOf(b.members[name]) == jsontext.String {
		b.faults.add(pointer(name), "%s must not be empty", name)
	}
	return text
}

// whole is a number member between two bounds; absent when it is not given.
func (b *body) whole(name string, absent, least, most int64) int64 {
	if !b.has(name) {
		return absent
	}
	n, ok := jsontext.Integer(b.members[name])
	if !ok || n < least || n > most {
		b.faults.add(pointer(name), "%s is a whole number from %d to %d", name, least, most)
		return absent
	}
	return n
}

// time is a time of RFC 3339; the zero time when it is absent.
func (b *body) time(name string) time.Time {
	text := b.text(name)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		b.faults.add(pointer(name), "%s is a time such as 2026-01-31T12:00:00Z", name)
	}
	return at.UTC()
}

// payload is any JSON value, with its numbers as they were sent; nil when it is absent.
func (b *body) payload(name string) domain.Payload {
	if !b.given(name) {
		return nil
	}
	return b.members[name]
}

// texts is an object of texts; nil when it is absent.
func (b *body) texts(name string) map[string]string {
	if !b.has(name) {
		return nil
	}
	members, ok := jsontext.Members(b.members[name])
	if !ok {
		b.faults.add(pointer(name), "%s is an object of texts", name)
		return nil
	}
	out := make(map[string]string, len(members))
	for _, m := range members {
		text, ok := jsontext.Text(m.Value)
		if !ok {
			b.faults.add(pointer(name)+pointer(m.Name), "%s of %s is a text", domain.Quote(m.Name, 64), name)
		}
		out[m.Name] = text
	}
	return out
}

// object is a member that is itself an object of known members; nil when it is absent.
func (b *body) object(name string, known ...string) *body {
	if !b.has(name) {
		return nil
	}
	inner, err := readBody(b.members[name], known)
	if err == nil {
		return &inner
	}
	b.faults.add(pointer(name), "%s: %s", name, message(err))
	return nil
}

// objects is a list of objects of known members.
func (b *body) objects(name string, known ...string) []body {
	if !b.has(name) {
		return nil
	}
	elements, ok := jsontext.Elements(b.members[name])
	if !ok {
		b.faults.add(pointer(name), "%s is a list", name)
	}
	out := make([]body, 0, len(elements))
	for i, e := range elements {
		inner, err := readBody(e, known)
		if err != nil {
			b.faults.add(fmt.Sprintf("%s/%d", pointer(name), i), "%s: %s", name, message(err))
			continue
		}
		out = append(out, inner)
	}
	return out
}

// takes joins what did not fit in an inner object to what did not fit in this one.
func (b *body) takes(name string, inner *body) {
	for _, f := range inner.faults {
		b.faults = append(b.faults, fault{pointer(name) + f.Pointer, f.Message})
	}
}

func message(err error) string {
	var refusal *domain.Error
	if errors.As(err, &refusal) {
		return refusal.Message
	}
	return err.Error()
}

// list is a list of texts that are not empty.
func (b *body) list(name string) []string {
	if !b.has(name) {
		return nil
	}
	elements, ok := jsontext.Elements(b.members[name])
	out := make([]string, 0, len(elements))
	for _, e := range elements {
		text, is := jsontext.Text(e)
		ok = ok && is && text != ""
		out = append(out, text)
	}
	if !ok {
		b.faults.add(pointer(name), "%s is a list of texts that are not empty", name)
	}
	return out
}

// truth is true or false; false when it is absent.
func (b *body) truth(name string) bool {
	text := string(b.members[name])
	if b.has(name) && text != "true" && text != "false" {
		b.faults.add(pointer(name), "%s is true or false", name)
	}
	return text == "true"
}
