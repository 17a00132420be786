package check_test

import (
	"bytes"
	"path/filepath"
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"aion/domain/awl/diag"
)

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// mutate changes a document in ways that mostly still parse: words are exchanged for other words of the document, and
// lines are moved, doubled or dropped.
func mutate(t *rapid.T, src []byte) []byte {
	words := word.FindAll(src, -1)
	for range rapid.IntRange(0, 4).Draw(t, "words") {
		at := word.FindAllIndex(src, -1)
		i := rapid.IntRange(0, len(at)-1).Draw(t, "at")
		with := rapid.SampledFrom(words).Draw(t, "with")
		src = bytes.Join([][]byte{src[:at[i][0]], with, src[at[i][1]:]}, nil)
	}
	lines := bytes.SplitAfter(src, []byte("\n"))
	for range rapid.IntRange(0, 3).Draw(t, "lines") {
		from := rapid.IntRange(0, len(lines)-1).Draw(t, "from")
		to := rapid.IntRange(0, len(lines)-1).Draw(t, "to")
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			lines[from], lines[to] = lines[to], lines[from]
		case 1:
			lines[to] = lines[from]
		default:
			lines[to] = nil
		}
	}
	return bytes.Join(lines, nil)
}

func TestMutatedDocumentsAreJudgedWithoutPanic(t *testing.T) {
	t.Parallel()
	var seeds [][]byte
	for _, folder := range []string{fixtures + "/valid", fixtures + "/invalid"} {
		for _, name := range documents(t, folder) {
			seeds = append(seeds, readFile(t, name))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		src := mutate(t, rapid.SampledFrom(seeds).Draw(t, "seed"))
		_, found := judge(src, filepath.Join(fixtures, "valid"))
		for _, d := range found {
			if _, known := diag.Lookup(d.Code); !known || d.Message == "" {
				t.Errorf("finding %v is none of the catalogue", d)
			}
		}
	})
}
