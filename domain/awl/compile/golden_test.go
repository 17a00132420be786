package compile_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aion/domain/awl/plan"
)

var update = flag.Bool("update", false, "rewrite the golden plans")

// The plan of every valid workflow document stands in testdata/plan, indented for the reader.
func TestPlansOfTheValidDocumentsAreTheGoldenOnes(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(valid, "*.awl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".awl")
		if name == "shell_worker" || name == "later_spelling.loose" {
			continue // no workflow; a spelling of another document
		}
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := plan.Encode(mustCompile(t, string(src)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var b bytes.Buffer
		if err := json.Indent(&b, text, "", " "); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
		golden := filepath.Join("testdata", "plan", name+".json")
		if *update {
			if err := os.WriteFile(golden, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCompilingTwiceGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile(filepath.Join(valid, "agent_dev_loop.awl"))
	if err != nil {
		t.Fatal(err)
	}
	first, err := plan.Encode(mustCompile(t, string(src)))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		p := mustCompile(t, string(src))
		again, err := plan.Encode(p)
		if err != nil || !bytes.Equal(first, again) {
			t.Fatalf("%v %s", err, cmp.Diff(string(first), string(again)))
		}
		decoded, err := plan.Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p, decoded) {
			t.Fatalf("decoding an encoded plan changes it: %s", cmp.Diff(p, decoded))
		}
	}
}
