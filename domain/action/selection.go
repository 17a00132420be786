package action

import (
	"encoding/json"
	"fmt"
	"strings"
)

// DeclaringVersion is one retained package version that declares the action. Body is nil when it declares no body.
type DeclaringVersion struct {
	ContentHash   string
	WorkflowTypes []string
	RouteActive   bool
	Body          *Body
	Group         int // which of the different bodies it has, from 1; set in an answer
}

// Lookup is the answer of the body catalogue: a closed set.
//
//sumtype:decl
type Lookup interface{ lookup() }

// NoBody sends the dispatch to the workers of its queue.
type NoBody struct{}

// Declared is the body that this run's version contains.
type Declared struct{ Body Body }

// Ambiguous means that the run's version is unknown and the retained ones disagree.
type Ambiguous struct {
	Groups   int
	Versions []DeclaringVersion
}

// Unreadable means that the catalogue could not be read; the dispatch goes to the workers of its queue.
type Unreadable struct{ Reason string }

func (NoBody) lookup()     {}
func (Declared) lookup()   {}
func (Ambiguous) lookup()  {}
func (Unreadable) lookup() {}

// Select decides which body runs (actions 1.3). versions are the retained ones on the queue that declare the action; hash
// is the version that the run is pinned to, empty when it is not known. A known hash decides alone.
func Select(hash string, versions []DeclaringVersion) Lookup {
	if hash != "" {
		for _, v := range versions {
			if v.ContentHash == hash && v.Body != nil {
				return Declared{Body: *v.Body}
			}
		}
		return NoBody{}
	}
	groups := map[string]int{}
	var with []DeclaringVersion
	for _, v := range versions {
		if v.Body == nil {
			continue
		}
		canonical, err := json.Marshal(v.Body)
		if err != nil {
			return Unreadable{Reason: fmt.Sprintf("the body in version %s has no encoding: %v", v.ContentHash, err)}
		}
		if groups[string(canonical)] == 0 {
			groups[string(canonical)] = len(groups) + 1
		}
		v.Group = groups[string(canonical)]
		with = append(with, v)
	}
	switch len(groups) {
	case 0:
		return NoBody{}
	case 1:
		return Declared{Body: *with[0].Body}
	default:
		return Ambiguous{Groups: len(groups), Versions: with}
	}
}

// How many bytes of versions to unload, and of routed ones, a refusal lists, so that it stays whole inside MaxMessage.
const (
	unloadListed = 5 << 10
	routedListed = 2 << 10
)

// AmbiguousBody is the refusal of an ambiguous dispatch, with the remedy (actions 1.4).
func AmbiguousBody(name, queue string, a Ambiguous) Failed {
	var unload, routed []string
	for _, v := range a.Versions {
		for _, t := range v.WorkflowTypes {
			if v.RouteActive {
				routed = append(routed, fmt.Sprintf("%s %s (body %d)", t, v.ContentHash, v.Group))
			} else {
				unload = append(unload, fmt.Sprintf("`aion unload %s %s`", t, v.ContentHash))
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "action `%s` of task queue `%s` has %d different bodies in the retained versions, and the version of "+
		"this run is not known; ", name, queue, a.Groups)
	if len(unload) > 0 {
		fmt.Fprintf(&b, "unload the superseded versions: %s", join(unload, unloadListed))
	} else {
		b.WriteString("no version is superseded, so there is nothing to unload: rename the action or give one workflow " +
			"another task queue, then deploy")
	}
	if len(routed) > 0 {
		fmt.Fprintf(&b, "; routed: %s", join(routed, routedListed))
	}
	return Fail(Terminal, CodeAmbiguousBody, b.String(), nil)
}

// join lists items in at most so many bytes, and counts the others.
func join(items []string, most int) string {
	var b strings.Builder
	for i, item := range items {
		if i > 0 {
			item = ", " + item
		}
		if b.Len()+len(item) > most {
			return fmt.Sprintf("%s and %d more", b.String(), len(items)-i)
		}
		b.WriteString(item)
	}
	return b.String()
}
