package document_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"aion/domain"
	"aion/domain/document"
)

// wire is the pattern that the tools publish for a path (mcp 4.7).
var wire = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]{0,99}/){0,7}[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.awl$`)

func TestParsePathNamesTheRuleThatIsBroken(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"":                                       "not empty",
		"/a.awl":                                 "relative",
		"a.txt":                                  "ends in `.awl`",
		"a":                                      "ends in `.awl`",
		".awl":                                   "start with a dot",
		"a//b.awl":                               "empty segment",
		"../a.awl":                               "no segment `..`",
		"a/./b.awl":                              "no segment `.`",
		".git/b.awl":                             "start with a dot",
		`a\b.awl`:                                "backslash",
		"a b.awl":                                "letters, digits",
		"ä.awl":                                  "letters, digits",
		"-a.awl":                                 "starts with a letter or digit",
		"a\x00.awl":                              "letters, digits",
		"1/2/3/4/5/6/7/8/9.awl":                  "8 segments",
		strings.Repeat("a", 97) + ".awl":         "100 bytes",
		strings.Repeat("abcdefg/", 30) + "a.awl": "240 bytes",
	}
	for s, want := range cases {
		_, err := document.ParsePath(s)
		var e *domain.Error
		if !errors.As(err, &e) || e.Code != domain.CodeInvalidInput || e.Type != "DocumentPathInvalid" {
			t.Errorf("%q: %v", s, err)
			continue
		}
		if !strings.Contains(e.Message, want) {
			t.Errorf("%q: %s, want %s", s, e.Message, want)
		}
	}
}

func TestPathNameIsTheLastSegment(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"a.awl": "a", "team/sub.dir/My-flow_2.v1.awl": "My-flow_2.v1", "x.awl/y.awl": "y"} {
		p, err := document.ParsePath(s)
		if err != nil || p.Name() != want {
			t.Errorf("%q: %q %v", s, p.Name(), err)
		}
	}
}

func TestValidImportAdmitsPlainJSONPathsOnly(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"a.json": true, "schemas/t.schema.json": true, "": false, ".json": false, "../a.json": false, "/a.json": false,
		"a/../b.json": false, "a.yaml": false, `a\b.json`: false, "a//b.json": false, "a b.json": false, "a/.json": false,
	} {
		if document.ValidImport(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"a.awl", "a/b.awl", "../x.awl", ".awl", "a\\b.awl", "a//b.awl"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, err := document.ParsePath(s)
		if want := wire.MatchString(s) && len(s) <= 240; (err == nil) != want {
			t.Fatalf("%q: %v, the published pattern says %v", s, err, want)
		}
	})
}
