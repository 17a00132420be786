package worker

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"aion/domain"
)

// The bounds of a registration.
const (
	MaxConcurrency = 1000
	maxActions     = 1000
	maxNamespaces  = 100
	maxName        = 255
	maxSchemas     = 512 << 10 // bytes of all schemas together
)

// Check refuses a registration that cannot be kept, with every member that does not fit.
func Check(instance string, s Settings) error {
	var found []map[string]any
	add := func(pointer, format string, args ...any) {
		found = append(found, map[string]any{"pointer": pointer, "message": fmt.Sprintf(format, args...)})
	}
	name := func(member, value string, required bool) {
		if required && value == "" {
			add("/"+member, "%s must not be empty", member)
		}
		if !readable(value) {
			add("/"+member, "%s has at most %d characters of text without control characters", member, maxName)
		}
	}
	name("instance_id", instance, true)
	name("identity", s.Identity, true)
	name("task_queue", s.TaskQueue, true)
	name("node", s.Node, false)
	name("sdk", s.SDK, false)
	if n := len(s.Namespaces); n == 0 || n > maxNamespaces || repeats(s.Namespaces) {
		add("/namespaces", "namespaces lists 1 to %d namespaces, each once", maxNamespaces)
	}
	if s.MaxConcurrency < 1 || s.MaxConcurrency > MaxConcurrency {
		add("/max_concurrency", "max_concurrency is a whole number from 1 to %d", MaxConcurrency)
	}
	if s.PinnedOnly && s.Node == "" {
		add("/pinned_only", "pinned_only needs a node: without one no task could ever be taken")
	}
	if n := len(s.Actions); n == 0 || n > maxActions {
		add("/actions", "actions lists 1 to %d actions", maxActions)
	} else {
		checkActions(s, add)
	}
	if len(found) == 0 {
		return nil
	}
	const most = 10
	found = found[:min(len(found), most)]
	messages := make([]string, 0, len(found))
	for _, f := range found {
		messages = append(messages, fmt.Sprint(f["message"]))
	}
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "SchemaViolation", Message: strings.Join(messages, "; "), Details: map[string]any{"errors": found},
	}
}

func checkActions(s Settings, add func(pointer, format string, args ...any)) {
	seen, size := map[string]bool{}, 0
	for i, a := range s.Actions {
		at := fmt.Sprintf("/actions/%d", i)
		if a.Name == "" || !readable(a.Name) || seen[a.Name] {
			add(at+"/name", "the name of an action is not empty, has at most %d characters, and stands once; got %q", maxName, domain.Quote(a.Name, 64))
		}
		seen[a.Name] = true
		size += len(a.InputSchema) + len(a.OutputSchema)
		if a.InputSchema != nil && !readableSchema(a.InputSchema) {
			add(at+"/input_schema", "the input schema of %s is no JSON Schema: it is an object, with a known type when it has one", domain.Quote(a.Name, 64))
		}
		if a.OutputSchema != nil && !readableSchema(a.OutputSchema) {
			add(at+"/output_schema", "the output schema of %s is no JSON Schema: it is an object, with a known type when it has one", domain.Quote(a.Name, 64))
		}
	}
	if size > maxSchemas {
		add("/actions", "the schemas of all actions have %d bytes and may have %d", size, maxSchemas)
	}
}

// readableSchema accepts more than a document may declare: a worker may say of itself whatever JSON Schema can.
func readableSchema(text json.RawMessage) bool {
	var top map[string]any
	if json.Unmarshal(text, &top) != nil || top == nil {
		return false
	}
	known := []string{"object", "array", "string", "number", "integer", "boolean", "null"}
	given := texts(top["type"])
	return (top["type"] == nil) == (len(given) == 0) && !slices.ContainsFunc(given, func(t string) bool { return !slices.Contains(known, t) })
}

func readable(text string) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= maxName && !strings.ContainsFunc(text, unicode.IsControl)
}

func repeats(list []domain.Namespace) bool {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return len(slices.Compact(sorted)) != len(list)
}
