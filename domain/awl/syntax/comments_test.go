package syntax_test

import (
	"strings"
	"testing"

	"aion/domain/awl/syntax"
)

// survives parses a document that holds the comment `// zz` and wants it in the printed text, and printing to be stable.
// A text with findings shows nothing: the comment was put where none can stand.
func survives(t *testing.T, src string) bool {
	t.Helper()
	d, ds := syntax.Parse([]byte(src))
	if len(ds) > 0 {
		return false
	}
	out := string(syntax.Print(d))
	if !strings.Contains(out, "// zz") {
		t.Errorf("the comment is lost:\n%s", src)
	}
	again, ds := syntax.Parse([]byte(out))
	if len(ds) > 0 {
		t.Fatalf("the printed text has findings %v:\n%s", say(ds), out)
	}
	if second := string(syntax.Print(again)); second != out {
		t.Errorf("printing again differs:\n%s\n-----\n%s", out, second)
	}
	return true
}

func TestCommentsSurviveWhereverTheyStand(t *testing.T) {
	t.Parallel()
	for name, src := range fixtures(t, validDir) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tried := 0
			every := 1 + len(src)/150 // of a long document not every place
			for i, c := range src {
				if i%every != 0 && src[i] != '\n' {
					continue
				}
				before, after := src[:i], src[i:]
				if i > 0 && src[i-1] == '\n' {
					margin := after[:len(after)-len(strings.TrimLeft(after, " "))]
					for _, m := range []string{margin, margin + "  ", ""} {
						if survives(t, before+m+"// zz\n"+after) && survives(t, before+"\n"+m+"// zz\n\n"+after) {
							tried++
						}
					}
				}
				if (c == '\n' && survives(t, before+" // zz"+after)) ||
					(strings.ContainsRune(" (),", c) && survives(t, before+" // zz\n          "+after)) {
					tried++
				}
			}
			if tried == 0 {
				t.Error("no place was tried")
			}
		})
	}
}
