package bootstrap_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aion/adapters/shell"
	"aion/bootstrap"

	"github.com/google/go-cmp/cmp"
)

func TestGrantsAreReadFromAFileAndFromAVariable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "aion.yaml")
	text := "actions:\n  env:\n    - {name: TOKEN, from_file: /run/token, queues: [a, b], secret: true}\n    - {name: LANG, from_env: LANG, queues: [a]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []shell.Grant{{Name: "TOKEN", FromFile: "/run/token", Queues: []string{"a", "b"}, Secret: true}, {Name: "LANG", FromEnv: "LANG", Queues: []string{"a"}}}
	for name, c := range map[string]struct {
		environ []string
		file    string
	}{
		"file":     {nil, file},
		"variable": {[]string{`AION_ACTIONS_ENV=[{"name":"TOKEN","from_file":"/run/token","queues":["a","b"],"secret":true},{"name":"LANG","from_env":"LANG","queues":"a"}]`}, ""},
	} {
		cfg, err := bootstrap.Load(nil, append(c.environ, "HOME="+dir), filepath.Join(dir, "home"), c.file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, cfg.ActionsEnv); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAGrantWithAMistakeIsRefusedByItsPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string]string{
		`{}`:                            "is a list of objects",
		`[1]`:                           "item 1: is no object",
		`[{"name":"A","queues":"q"}]`:   "item 1: the grant of \"A\" needs either from_file or from_env",
		`[{"name":"A","from_env":"B"}]`: "names no task queue",
		`[{"name":"A","from_env":"B","queues":"q"},{"nam":"C"}]`:      "item 2: nam is no member",
		`[{"name":"A","from_env":"B","queues":"q","secret":"maybe"}]`: "secret is neither true nor false",
		`[{"name":"AION_X","from_env":"B","queues":"q"}]`:             "belongs to the server",
		`[{"name":"A","from_env":"B","from_file":"/x","queues":"q"}]`: "needs either from_file or from_env",
		`[{"name":["A"],"from_env":"B","queues":"q"}]`:                "name takes one value",
		`[{"name":"A","from_env":"B","queues":[["q"]]}]`:              "queues is a list of texts",
	} {
		_, err := bootstrap.Load(nil, []string{"HOME=" + dir, "AION_ACTIONS_ENV=" + text}, filepath.Join(dir, "home"), "")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "AION_ACTIONS_ENV") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
