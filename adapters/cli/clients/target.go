package clients

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"aion/domain"
)

// Places are the directories of one user on one machine.
type Places struct {
	Home    string // of the user
	Config  string // where programs keep a user's settings on this system
	Project string // the directory of the project
	Codex   string // CODEX_HOME; empty: .codex in Home
	Claude  string // CLAUDE_CONFIG_DIR; empty: Home
}

// Scope is whose configuration is meant.
type Scope string

// The scopes.
const (
	User    Scope = "user"
	Project Scope = "project"
)

// Server is how a client reaches aion: by a command that speaks on its streams, or by a URL.
type Server struct {
	Command string
	Args    []string
	URL     string // of the endpoint; empty: by command
	// Token says that the server wants a credential. It is read from the client's own AION_TOKEN and never written.
	Token   bool
	Headers []Member // further headers, of string values
}

// Target is one client.
type Target struct {
	Name    string
	section string
	own     []string // the names of an entry that are ours; what else a user adds to it stays
	format  format
	user    func(Places) string
	project string // below the project; empty: there is none
	seen    func(Places) string
	command func(Server) Entry
	remote  func(Server) Entry // nil: by command only
}

type format int

const (
	formatJSON format = iota + 1
	formatTOML
)

// ClaudeCode keeps its user scope in a file that it rewrites all the time: it is changed by its own command.
const ClaudeCode = "claude-code"

// Targets are the clients that are known, in the order in which they are listed.
func Targets() []Target {
	names := []string{"type", "command", "args", "url", "httpUrl", "headers"}
	launch := func(s Server) Entry { return Entry{{"command", s.Command}, {"args", s.Args}} }
	return []Target{
		{
			Name: ClaudeCode, section: "mcpServers", own: names, format: formatJSON, project: ".mcp.json", command: launch,
			user: func(p Places) string { return filepath.Join(or(p.Claude, p.Home), ".claude.json") },
			seen: func(p Places) string { return filepath.Join(or(p.Claude, p.Home), ".claude.json") },
			remote: func(s Server) Entry {
				return s.headers(Entry{{"type", "http"}, {"url", s.URL}}, "headers", "Bearer ${AION_TOKEN}")
			},
		},
		{
			Name: "claude-desktop", section: "mcpServers", own: names, format: formatJSON, command: launch,
			user: func(p Places) string { return filepath.Join(p.Config, "Claude", "claude_desktop_config.json") },
			seen: func(p Places) string { return filepath.Join(p.Config, "Claude") },
		},
		{
			Name: "cursor", section: "mcpServers", own: names, format: formatJSON, project: filepath.Join(".cursor", "mcp.json"), command: launch,
			user: func(p Places) string { return filepath.Join(p.Home, ".cursor", "mcp.json") },
			seen: func(p Places) string { return filepath.Join(p.Home, ".cursor") },
			remote: func(s Server) Entry {
				return s.headers(Entry{{"url", s.URL}}, "headers", "Bearer ${env:AION_TOKEN}")
			},
		},
		{
			Name: "vscode", section: "servers", own: names, format: formatJSON, project: filepath.Join(".vscode", "mcp.json"),
			user:    func(p Places) string { return filepath.Join(p.Config, "Code", "User", "mcp.json") },
			seen:    func(p Places) string { return filepath.Join(p.Config, "Code") },
			command: func(s Server) Entry { return append(Entry{{"type", "stdio"}}, launch(s)...) },
			remote: func(s Server) Entry {
				return s.headers(Entry{{"type", "http"}, {"url", s.URL}}, "headers", "Bearer ${env:AION_TOKEN}")
			},
		},
		{
			Name: "codex", section: "mcp_servers", own: []string{"command", "args", "url", "bearer_token_env_var", "http_headers"}, format: formatTOML, command: launch,
			user: func(p Places) string {
				return filepath.Join(or(p.Codex, filepath.Join(p.Home, ".codex")), "config.toml")
			},
			seen: func(p Places) string { return or(p.Codex, filepath.Join(p.Home, ".codex")) },
			remote: func(s Server) Entry {
				e := Entry{{"url", s.URL}}
				if s.Token {
					e = append(e, Member{"bearer_token_env_var", "AION_TOKEN"})
				}
				s.Token = false
				return s.headers(e, "http_headers", "")
			},
		},
		{
			Name: "gemini", section: "mcpServers", own: names, format: formatJSON, project: filepath.Join(".gemini", "settings.json"), command: launch,
			user: func(p Places) string { return filepath.Join(p.Home, ".gemini", "settings.json") },
			seen: func(p Places) string { return filepath.Join(p.Home, ".gemini") },
			remote: func(s Server) Entry {
				return s.headers(Entry{{"httpUrl", s.URL}}, "headers", "Bearer $AION_TOKEN")
			},
		},
	}
}

// Find is the target of a name.
func Find(name string) (Target, bool) {
	all := Targets()
	i := slices.IndexFunc(all, func(t Target) bool { return t.Name == name })
	if i < 0 {
		return Target{}, false
	}
	return all[i], true
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// headers adds the headers of a server to an entry, the credential as the client's own reference to its environment.
func (s Server) headers(e Entry, name, bearer string) Entry {
	var headers Entry
	if s.Token {
		headers = append(headers, Member{"Authorization", bearer})
	}
	headers = append(headers, s.Headers...)
	if len(headers) == 0 {
		return e
	}
	return append(e, Member{name, headers})
}

// File is the configuration file of a scope.
func (t Target) File(p Places, s Scope) (string, error) {
	if s == User {
		return t.user(p), nil
	}
	if t.project == "" {
		return "", &domain.Error{Code: domain.CodeInvalidInput, Type: "ScopeUnknown", Message: t.Name + " has no configuration of a project; use --scope user"}
	}
	return filepath.Join(p.Project, t.project), nil
}

// Trace is the path that exists on a machine on which the client has been used.
func (t Target) Trace(p Places) string { return t.seen(p) }

// Entry is how the client writes a server down.
func (t Target) Entry(s Server) (Entry, error) {
	if s.URL == "" {
		return t.command(s), nil
	}
	if t.remote == nil {
		return nil, &domain.Error{Code: domain.CodeInvalidInput, Type: "TransportUnknown", Message: t.Name + " launches servers only; use --transport bridge"}
	}
	return t.remote(s), nil
}

// Render is a whole configuration file that holds nothing but one entry.
func (t Target) Render(name string, e Entry) string {
	if t.format == formatTOML {
		return tomlTable([]string{t.section, name}, e)
	}
	return layout{newline: "\n", unit: "  ", colon: ": ", comma: ", "}.json(Entry{{t.section, Entry{{name, e}}}}, "") + "\n"
}

// JSON is one entry on one line.
func (t Target) JSON(e Entry) string { return layout{colon: ":", comma: ","}.json(e, "") }

// Merge gives a configuration the entry, or finds that it has it: then the text is the same. It refuses a text that it
// cannot read, with a *SyntaxError, and one that it cannot change safely.
func (t Target) Merge(text []byte, name string, e Entry) ([]byte, error) {
	path := []string{t.section, name}
	var out []byte
	var err error
	if t.format == formatTOML {
		out, err = mergeTOML(text, path, e, t.own)
	} else {
		out, err = mergeJSON(text, path, e, t.own)
	}
	if err != nil {
		return nil, err
	}
	return out, t.verify(text, out, path, func(now map[string]any) bool { return now != nil && satisfied(now, e, t.own) })
}

// Remove takes the entry out of a configuration; without one the text is the same.
func (t Target) Remove(text []byte, name string) ([]byte, error) {
	path := []string{t.section, name}
	var out []byte
	var err error
	if t.format == formatTOML {
		out, err = removeTOML(text, path)
	} else {
		out, err = removeJSON(text, path)
	}
	if err != nil {
		return nil, err
	}
	return out, t.verify(text, out, path, func(now map[string]any) bool { return now == nil })
}

// State is what a configuration says about an entry.
type State int

// The states.
const (
	Absent    State = iota + 1
	Different       // there is one of that name, written otherwise
	Installed
)

// State finds an entry in a configuration. It refuses a text as Merge does.
func (t Target) State(text []byte, name string, e Entry) (State, error) {
	tree, err := t.decode(text)
	if err != nil {
		return 0, err
	}
	present, err := tableAt(tree, []string{t.section, name})
	switch {
	case err != nil:
		return 0, err
	case present == nil:
		return Absent, nil
	case satisfied(present, e, t.own):
		return Installed, nil
	}
	return Different, nil
}

// verify reads a changed text again: the entry is as wanted, and everything else as before.
func (t Target) verify(before, after []byte, path []string, wanted func(map[string]any) bool) error {
	old, err := t.decode(before)
	if err != nil {
		return err
	}
	now, err := t.decode(after)
	if err != nil {
		return errUnsafe
	}
	entry, err := tableAt(now, path)
	if err != nil || !wanted(entry) {
		return errUnsafe
	}
	for _, tree := range []map[string]any{old, now} {
		section, ok := tree[path[0]].(map[string]any)
		if ok {
			delete(section, path[1])
		}
		if len(section) == 0 {
			delete(tree, path[0])
		}
	}
	if !reflect.DeepEqual(old, now) {
		return errUnsafe
	}
	return nil
}

func (t Target) decode(text []byte) (map[string]any, error) {
	if t.format == formatTOML {
		return parseTOML(text)
	}
	return decodeJSON(text)
}

var (
	errInline = errors.New("the entry is written as a value inside another one")
	errUnsafe = errors.New("the file cannot be changed without touching other entries")
)

func notATable(path []string) error {
	if len(path) == 0 {
		return errors.New("the file holds no object")
	}
	return fmt.Errorf("%s is no object", dotted(path))
}

// satisfied reports whether an entry holds what is wanted, and no name of ours besides.
func satisfied(present map[string]any, e Entry, own []string) bool {
	for _, m := range e {
		if !equal(present[m.Name], plain(m.Value)) {
			return false
		}
	}
	for _, name := range own {
		_, has := present[name]
		if has && !slices.ContainsFunc(e, func(m Member) bool { return m.Name == name }) {
			return false
		}
	}
	return true
}

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }
