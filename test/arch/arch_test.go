package arch_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pkg is what the go command says of one package of ours.
type pkg struct {
	ImportPath string
	Dir        string
	Doc        string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,GoFiles,Imports,Deps", "./...")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

const module = "aion/"

// room is the longest prefix of the import table that a package belongs to.
func room(path string) string {
	best := ""
	for name := range table {
		if (path == name || strings.HasPrefix(path, name+"/")) && len(name) > len(best) {
			best = name
		}
	}
	return best
}

// table says which of our own packages a room may import, by prefix; `=` in front means exactly that package. A room may
// always import below itself.
var table = map[string][]string{
	"domain":                  {},
	"domain/access":           {"=domain"},
	"domain/action":           {"=domain"},
	"domain/deployment":       {"=domain", "domain/action", "domain/history", "domain/schema", "domain/awl/plan"},
	"domain/document":         {"=domain"},
	"domain/history":          {"=domain", "domain/action"},
	"domain/machine":          {"=domain", "domain/action", "domain/history", "domain/run", "domain/awl/plan", "domain/awl/value"},
	"domain/run":              {"=domain", "domain/action", "domain/history"},
	"domain/schema":           {"=domain"},
	"domain/schedule":         {"=domain"},
	"domain/task":             {"=domain"},
	"domain/transcript":       {"=domain"},
	"domain/worker":           {"=domain", "domain/history"},
	"domain/awl":              {"=domain", "domain/schema", "domain/document", "domain/awl"},
	"domain/awl/diag":         {},
	"domain/awl/syntax":       {"domain/awl/diag"},
	"domain/awl/value":        {"=domain"},
	"domain/awl/plan":         {"=domain", "domain/action", "domain/awl/value", "domain/schema"},
	"domain/awl/check":        {"=domain", "domain/action", "domain/schema", "domain/awl/diag", "domain/awl/syntax", "domain/awl/value"},
	"domain/awl/compile":      {"=domain", "domain/action", "domain/schema", "domain/awl/diag", "domain/awl/syntax", "domain/awl/check", "domain/awl/plan", "domain/awl/value"},
	"ports":                   {"domain"},
	"application/engine":      {"domain", "ports"},
	"application/actions":     {"domain", "ports", "application/engine", "application/transcripts"},
	"application/timers":      {"domain", "ports", "application/engine"},
	"application/runs":        {"domain", "ports", "application/engine"},
	"application/queues":      {"domain", "ports", "application/actions", "application/workers"},
	"application/workers":     {"domain", "ports", "application/engine", "application/actions", "application/transcripts"},
	"application/tasks":       {"domain", "ports"},
	"application/schedules":   {"domain", "ports", "application/runs"},
	"application/audit":       {"domain", "ports"},
	"application/replicas":    {"domain", "ports"},
	"application/retention":   {"domain", "ports"},
	"application/backups":     {"domain", "ports", "application/audit"},
	"adapters/archive":        {"domain", "ports"},
	"application/transcripts": {"domain", "ports"},
	"application/authoring":   {"domain", "ports", "application/deployments"},
	"application/deployments": {"domain", "ports"},
	"adapters/auth":           {"domain", "ports"},
	"adapters/metrics":        {"domain", "ports"},
	"application/namespaces":  {"domain", "ports"},
	"adapters/gormstore":      {"domain", "ports"},
	"adapters/memory":         {"domain", "ports"},
	"adapters/shell":          {"domain", "ports"},
	"adapters/system":         {"domain", "ports"},
	"adapters/workspace":      {"domain", "ports"},
	"adapters/web":            {"domain", "ports", "application"},
	"adapters/mcp":            {"domain", "ports", "application", "adapters/web"},
	"adapters/httpapi":        {"domain", "ports", "application", "adapters/web"},
	"adapters/cli":            {"domain", "ports", "application"},
	"bootstrap":               {"domain", "ports", "application", "adapters"},
	"cmd":                     {"=bootstrap"},
	"test":                    {"domain", "ports", "application", "adapters", "bootstrap"},
}

func TestImportsFollowTheTable(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		from := room(path)
		if from == "" {
			t.Errorf("%s belongs to no room of the table", path)
			continue
		}
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module)
			if !ours || to == from || strings.HasPrefix(to, from+"/") {
				continue
			}
			if !slices.ContainsFunc(table[from], func(rule string) bool { return admits(rule, to) }) {
				t.Errorf("%s imports %s, which the import table does not admit", path, to)
			}
		}
	}
}

func admits(rule, to string) bool {
	if exact, ok := strings.CutPrefix(rule, "="); ok {
		return to == exact
	}
	return to == rule || strings.HasPrefix(to, rule+"/")
}

// The domain reads no clock, no machine and no network, not even through what it imports of ours.
func TestDomainStaysPure(t *testing.T) {
	t.Parallel()
	forbidden := []string{"os", "net", "net/http", "log", "log/slog", "database/sql", "os/exec", "math/rand", "math/rand/v2", "crypto/rand"}
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if path != "domain" && !strings.HasPrefix(path, "domain/") && path != "ports" {
			continue
		}
		for _, imported := range p.Imports {
			if slices.Contains(forbidden, imported) {
				t.Errorf("%s imports %s", path, imported)
			}
			if strings.Contains(strings.SplitN(imported, "/", 2)[0], ".") {
				t.Errorf("%s imports the module %s", path, imported)
			}
		}
	}
}

// Every library stays in its room.
func TestLibrariesStayInTheirRooms(t *testing.T) {
	t.Parallel()
	rooms := map[string][]string{
		"gorm.io":                         {"adapters/gormstore"},
		"github.com/mattn":                {"adapters/gormstore"},
		"github.com/jackc":                {"adapters/gormstore"},
		"github.com/prometheus":           {"adapters/metrics"},
		"github.com/gin-gonic":            {"adapters/web", "adapters/mcp", "adapters/httpapi", "bootstrap"},
		"github.com/spf13/viper":          {"bootstrap"},
		"github.com/spf13/cobra":          {"adapters/cli", "bootstrap"},
		"os/exec":                         {"adapters/shell"},
		"github.com/modelcontextprotocol": {},
	}
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if strings.HasPrefix(path, "test/") {
			continue
		}
		for _, imported := range p.Imports {
			for library, homes := range rooms {
				if imported != library && !strings.HasPrefix(imported, library+"/") {
					continue
				}
				if !slices.ContainsFunc(homes, func(home string) bool { return path == home || strings.HasPrefix(path, home+"/") }) {
					t.Errorf("%s imports %s, whose rooms are %v", path, imported, homes)
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// goroutines lists the product files that may contain a go statement or WaitGroup.Go, with who waits for them.
var goroutines = map[string]string{
	"adapters/cli/interrupt.go":         "attend, or the end of the process at a signal",
	"adapters/gormstore/listen.go":      "listener.stop",
	"adapters/mcp/bridge/bridge.go":     "Run of the bridge",
	"adapters/mcp/bridge/conn.go":       "Run of the bridge",
	"adapters/shell/aside.go":           "the attempt, unless a file system does not answer",
	"adapters/shell/start.go":           "Executor.Close",
	"adapters/shell/watch.go":           "the attempt, before its verdict",
	"bootstrap/socket.go":               "the end of startOnSocket",
	"adapters/cli/view.go":              "view.follow",
	"adapters/shell/attempt.go":         "attempt.notes",
	"adapters/shell/pool.go":            "Executor.Close, through pool.running",
	"adapters/shell/process.go":         "readers, before the verdict",
	"adapters/shell/group.go":           "the attempt, before its verdict",
	"adapters/shell/launch_linux.go":    "Executor.Close",
	"adapters/httpapi/feed.go":          "API.feed",
	"adapters/web/health.go":            "Health's loop in Host.Run",
	"adapters/web/host.go":              "Host.Run",
	"adapters/web/stream.go":            "Stream.Close",
	"application/actions/dispatcher.go": "Dispatcher.Run",
	"application/actions/execute.go":    "Dispatcher.Run",
	"application/engine/children.go":    "Couriers.deliver",
	"application/engine/engine.go":      "Engine.Run",
	"application/schedules/loop.go":     "Service.sweep",
	"application/tasks/run.go":          "Service.Run",
	"application/transcripts/stream.go": "the stream's Close",
	"bootstrap/app.go":                  "App.halt",
	"bootstrap/main.go":                 "the stop of signals",
	"bootstrap/serve.go":                "the stop of killSwitch",
}

func TestGoroutinesStartWhereTheTableSays(t *testing.T) {
	t.Parallel()
	base := root(t)
	found := map[string]bool{}
	for _, p := range packages(t) {
		if strings.HasPrefix(strings.TrimPrefix(p.ImportPath, module), "test/") {
			continue
		}
		for _, name := range p.GoFiles {
			file := filepath.Join(p.Dir, name)
			if !startsGoroutine(t, file) {
				continue
			}
			rel, err := filepath.Rel(base, file)
			if err != nil {
				t.Fatal(err)
			}
			found[rel] = true
			if _, ok := goroutines[rel]; !ok {
				t.Errorf("%s starts a goroutine and is not in the table: say who waits for it", rel)
			}
		}
	}
	for file := range goroutines {
		if !found[file] {
			t.Errorf("%s is in the table and starts no goroutine", file)
		}
	}
}

func startsGoroutine(t *testing.T, file string) bool {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	starts := false
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			starts = true
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" && len(n.Args) == 1 {
				starts = true
			}
		}
		return !starts
	})
	return starts
}

// What is committed speaks of the product alone: no machine paths.
func TestNoMachinePathsInTrackedFiles(t *testing.T) {
	t.Parallel()
	base := root(t)
	cmd := exec.Command("git", "ls-files")
	cmd.Dir = base
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(filepath.Join(base, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"/" + "work/", "/root" + "/"} {
			if strings.Contains(string(text), word) {
				t.Errorf("%s holds the machine path %q", name, word)
			}
		}
	}
}
