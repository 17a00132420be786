package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aion/domain"
	"aion/domain/awl/diag"
)

// query reads parameters strictly: each getter notes what is wrong, and request.whole tells it.
type query struct {
	given  url.Values
	faults faults
}

// admit reads the query. It refuses one that is malformed, a parameter that the route does not have, a repeated one that it
// takes once, and an empty one: a filter that was not applied must not look applied.
func (p *query) admit(raw string, known []string) error {
	given, err := url.ParseQuery(raw)
	if err != nil {
		return invalid(fmt.Sprintf("the query cannot be read (%s); join parameters with & and escape what is special with %%", domain.Quote(err.Error(), 64)))
	}
	p.given = given
	names := make([]string, 0, len(known))
	for _, k := range known {
		names = append(names, strings.TrimSuffix(k, "*"))
	}
	for name, values := range p.given {
		switch {
		case !slices.Contains(names, name):
			return &domain.Error{
				Code: domain.CodeInvalidInput, Type: "UnknownParameter",
				Message: "this path has no query parameter " + meant(name, names),
			}
		case len(values) > 1 && !slices.Contains(known, name+"*"):
			return &domain.Error{
				Code: domain.CodeInvalidInput, Type: "UnknownParameter",
				Message: fmt.Sprintf("the query parameter %q is given %d times; give it once", name, len(values)),
			}
		case name != "cursor" && slices.Contains(values, ""): // an empty cursor is one that does not decode
			p.faults.add("?"+name, "%s must not be empty; leave it out to have what is usual", name)
		}
	}
	return nil
}

// whollyGiven notes the parameters that cut a page out of what is answered whole.
func (p *query) whollyGiven() {
	for _, name := range []string{"limit", "cursor"} {
		if p.has(name) {
			p.faults.add("?"+name, "%s is of pages, and this media type gives all; leave it out, or accept %s", name, mediaJSON)
		}
	}
}

// meant quotes an unknown name and says which one is near, or which ones there are.
func meant(name string, known []string) string {
	text := strconv.Quote(domain.Quote(name, 64))
	if near := diag.Closest(strings.ToLower(name), known); near != "" {
		return text + "; did you mean " + near + "?"
	}
	if len(known) == 0 {
		return text + "; it takes none"
	}
	return text + "; there are " + strings.Join(known, ", ")
}

func (p *query) has(name string) bool { return len(p.given[name]) > 0 }

// text is a parameter; empty when it is absent.
func (p *query) text(name string) string { return p.given.Get(name) }

// texts are the values of a parameter that may be repeated.
func (p *query) texts(name string) []string { return p.given[name] }

// whole is a whole number between two bounds; absent when it is not given.
func (p *query) whole(name string, absent, least, most int64) int64 {
	if !p.has(name) {
		return absent
	}
	n, err := strconv.ParseInt(p.text(name), 10, 64)
	if err != nil || n < least || n > most {
		p.faults.add("?"+name, "%s is a whole number from %d to %d; got %q", name, least, most, domain.Quote(p.text(name), 64))
		return absent
	}
	return n
}

// required is whole for a parameter that must be given.
func (p *query) required(name string, least, most int64) int64 {
	if !p.has(name) {
		p.faults.add("?"+name, "%s is missing", name)
	}
	return p.whole(name, least, least, most)
}

// truth is true or false; false when it is not given.
func (p *query) truth(name string) bool {
	switch text := p.text(name); {
	case text == "true":
		return true
	case p.has(name) && text != "false":
		p.faults.add("?"+name, "%s is true or false; got %q", name, domain.Quote(text, 64))
	}
	return false
}

// time is a time of RFC 3339; the zero time when it is not given.
func (p *query) time(name string) time.Time {
	if !p.has(name) {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, p.text(name))
	if err != nil {
		p.faults.add("?"+name, "%s is a time such as 2026-01-31T12:00:00Z; got %q", name, domain.Quote(p.text(name), 64))
	}
	return at.UTC()
}

// one is one of some words; the first of them when it is not given.
func (p *query) one(name string, words ...string) string {
	if !p.has(name) {
		return words[0]
	}
	p.word(name, p.text(name), words)
	return p.text(name)
}

// word judges one value of a closed set, by exact case.
func (p *query) word(name, text string, words []string) {
	if slices.Contains(words, text) {
		return
	}
	hint := ""
	for _, w := range words {
		if strings.EqualFold(w, text) {
			hint = "; did you mean " + w + "?"
		}
	}
	p.faults.add("?"+name, "%s is one of %s; got %q%s", name, strings.Join(words, ", "), domain.Quote(text, 64), hint)
}

// faults are the values of one request that do not fit.
type faults []fault

type fault struct {
	Pointer string `json:"pointer"` // a JSON pointer into the body, or ? and a parameter
	Message string `json:"message"`
}

func (f *faults) add(pointer, format string, args ...any) {
	*f = append(*f, fault{pointer, fmt.Sprintf(format, args...)})
}

// violations is the refusal of what does not fit; nil when everything does.
func violations(list faults) error {
	const most = 10
	if len(list) == 0 {
		return nil
	}
	list = list[:min(len(list), most)]
	messages := make([]string, 0, len(list))
	for _, f := range list {
		messages = append(messages, f.Message)
	}
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "SchemaViolation", Message: strings.Join(messages, "; "),
		Details: map[string]any{"errors": []fault(list)},
	}
}
