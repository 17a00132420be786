package mcp

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"aion/adapters/mcp/schema"
	"aion/adapters/web/jsontext"
	"aion/domain"
)

// Revision is the only protocol version that is spoken.
const Revision = "2026-07-28"

// Tool is one tool of a catalogue.
type Tool struct {
	// Descriptor is the tool as tools/list shows it: a JSON object with name, title, description, inputSchema, annotations
	// and, unless the tool answers in plain text, outputSchema.
	Descriptor []byte
	// Progress says that the tool reports progress when it is asked to.
	Progress bool
	// Awaits names the boolean argument that turns a call into a task; empty: there is none.
	Awaits string
	// Instead is the tool with which a client that has no tasks follows what it began with a call that became none.
	Instead string
	// Deferred turns every call into a task.
	Deferred bool
	// Action is what a tool that changes something does, in the audit log; Target names the argument that says to what.
	Action, Target string
}

// Catalogue is what one route offers. It is encoded once, so the same bytes go to every caller.
type Catalogue struct {
	Name         string // of the server, in every result
	Title        string
	Version      string
	Instructions string
	Tools        []Tool // in the order of tools/list
	DiscoverTTL  time.Duration
	ListTTL      time.Duration
}

// tool is a compiled Tool.
type tool struct {
	name     string
	input    *schema.Schema
	known    []string // argument names
	progress bool
	awaits   string
	instead  string
	deferred bool
	action   string
	target   string
}

// compiled is a catalogue ready to be served.
type compiled struct {
	tools    map[string]*tool
	names    []string
	info     []byte // the _meta of every result, as a member
	discover []byte // whole results
	extended []byte // discover for whom declares the tasks extension
	list     []byte
}

var toolNameShape = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

func compile(c Catalogue) (*compiled, error) {
	out := &compiled{tools: map[string]*tool{}}
	var list []byte
	for i, t := range c.Tools {
		one, descriptor, err := compileTool(t)
		if err != nil {
			return nil, err
		}
		if out.tools[one.name] != nil {
			return nil, fmt.Errorf("catalogue: tool %s stands twice", one.name)
		}
		out.tools[one.name] = one
		out.names = append(out.names, one.name)
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, descriptor...)
	}
	for _, t := range out.tools {
		if t.instead != "" && out.tools[t.instead] == nil {
			return nil, fmt.Errorf("catalogue: %s names %s, and there is no such tool", t.name, t.instead)
		}
	}
	text := func(s string) string { return string(domain.AppendText(nil, s)) }
	out.info = fmt.Appendf(nil, `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":%s,"title":%s,"version":%s}}`, text(c.Name), text(c.Title), text(c.Version))
	discover := func(extensions string) []byte {
		return fmt.Appendf(nil, `{"resultType":"complete","supportedVersions":[%s],"capabilities":{"tools":{}%s},"instructions":%s,"ttlMs":%d,"cacheScope":"private",%s}`,
			text(Revision), extensions, text(c.Instructions), c.DiscoverTTL.Milliseconds(), out.info)
	}
	out.discover, out.extended = discover(""), discover(`,"extensions":{"`+tasksExtension+`":{}}`)
	out.list = fmt.Appendf(nil, `{"resultType":"complete","tools":[%s],"ttlMs":%d,"cacheScope":"private",%s}`, list, c.ListTTL.Milliseconds(), out.info)
	return out, nil
}

func compileTool(t Tool) (*tool, []byte, error) {
	if err := jsontext.Check(t.Descriptor, 64); err != nil {
		return nil, nil, fmt.Errorf("catalogue: descriptor: %w", err)
	}
	members, ok := jsontext.Members(t.Descriptor)
	if !ok {
		return nil, nil, fmt.Errorf("catalogue: a descriptor is not an object")
	}
	parts := map[string][]byte{}
	for _, m := range members {
		parts[m.Name] = m.Value
	}
	name, _ := jsontext.Text(parts["name"])
	if !toolNameShape.MatchString(name) {
		return nil, nil, fmt.Errorf("catalogue: %q is no tool name", name)
	}
	input, err := compileRoot(parts["inputSchema"])
	if err != nil {
		return nil, nil, fmt.Errorf("catalogue: input of %s: %w", name, err)
	}
	if parts["outputSchema"] != nil {
		if _, err := compileRoot(parts["outputSchema"]); err != nil {
			return nil, nil, fmt.Errorf("catalogue: output of %s: %w", name, err)
		}
	}
	one := &tool{
		name: name, input: input, known: propertyNames(parts["inputSchema"]), progress: t.Progress, awaits: t.Awaits, instead: t.Instead, deferred: t.Deferred,
		action: t.Action, target: t.Target,
	}
	for _, argument := range []string{t.Awaits, t.Target} {
		if argument != "" && !slices.Contains(one.known, argument) {
			return nil, nil, fmt.Errorf("catalogue: %s has no argument %s", name, argument)
		}
	}
	return one, compact(t.Descriptor), nil
}

// compileRoot compiles a schema whose root is a plain object type: clients drop tools whose root is anything else.
func compileRoot(text []byte) (*schema.Schema, error) {
	compiledSchema, err := schema.Compile(text)
	if err != nil {
		return nil, err
	}
	members, _ := jsontext.Members(text)
	object := false
	for _, m := range members {
		if m.Name == "anyOf" || m.Name == "$ref" {
			return nil, fmt.Errorf("the root has %s", m.Name)
		}
		object = object || m.Name == "type" && string(m.Value) == `"object"`
	}
	if !object {
		return nil, fmt.Errorf("the root is not of type object")
	}
	return compiledSchema, nil
}

func propertyNames(inputSchema []byte) []string {
	root, _ := jsontext.Members(inputSchema)
	var names []string
	for _, m := range root {
		if m.Name != "properties" {
			continue
		}
		properties, _ := jsontext.Members(m.Value)
		for _, p := range properties {
			names = append(names, p.Name)
		}
	}
	return names
}

// becomesTask reports whether a call is served as a task.
func (t *tool) becomesTask(a Arguments) bool { return t.deferred || t.awaits != "" && a.True(t.awaits) }

// unknownTool says which names exist near an unknown one.
func (c *compiled) unknownTool(name string) string {
	return schema.Unknown("tool", name, c.names)
}
