package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// commandName finds `aion WORD` and `aion WORD WORD` where a command is named: in backticks, in a block of code, or behind words
// that ask to run something.
var commandName = regexp.MustCompile("(?m)(?:`|^\\s*(?:\\$ )?|\\$ |: |with |run |name )aion ([a-z]+)(?: ([a-z]+))?\\b")

// spared are words behind aion that no command has to bear, with the reason.
var spared = map[string]string{
	"unload":     "the text of an ambiguous body is fixed by contract (actions 3), and so is the command in it",
	"is":         "prose",
	"workflow":   "the title of the MCP server",
	"supervisor": "how the supervisor of commands calls itself in its own errors",
}

// A message, the README and the documentation name only commands that exist.
func TestEveryCommandThatATextNamesExists(t *testing.T) {
	t.Parallel()
	named := map[string]string{} // command → where
	collect := func(place, text string) {
		for _, m := range commandName.FindAllStringSubmatch(text, -1) {
			named[strings.TrimSpace(m[1]+" "+m[2])] = place
		}
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name := d.Name(); path != root && (name == "test" || name == "testdata" || strings.HasPrefix(name, ".")) {
				return fs.SkipDir
			}
			return nil
		case strings.HasSuffix(path, "_test.go"):
			return nil
		case strings.HasSuffix(path, ".go"):
			return texts(path, collect)
		case strings.HasSuffix(path, ".md"), strings.HasSuffix(path, ".yaml"), strings.HasSuffix(path, ".awl"):
			text, err := os.ReadFile(path)
			collect(path, string(text))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(named) < 8 {
		t.Fatalf("the texts name only %v", named)
	}
	s := newShell(t)
	for command, place := range named {
		words := strings.Fields(command)
		if spared[words[0]] != "" {
			continue
		}
		out, _, _ := s.run(words[0], "--help")
		exists := strings.Contains(out, "Usage:\n  aion "+words[0])
		if exists && len(words) == 2 && strings.Contains(out, "Available Commands:") {
			out, _, _ = s.run(append(words, "--help")...)
			exists = strings.Contains(out, "Usage:\n  aion "+command)
		}
		if !exists {
			t.Errorf("%s names the command aion %s, which does not exist", place, command)
		}
	}
}

// texts collects the string literals of a Go file.
func texts(path string, collect func(place, text string)) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				collect(path, text)
			}
		}
		return true
	})
	return nil
}
