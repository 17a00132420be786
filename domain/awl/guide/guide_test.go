package guide_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"aion/domain/awl"
	"aion/domain/awl/diag"
	"aion/domain/awl/guide"
)

// findings are those of a document, as a person is shown them.
func findings(t *testing.T, text string) []string {
	t.Helper()
	var found []string
	for _, d := range awl.Check([]byte(text), awl.Options{}).Diagnostics {
		found = append(found, diag.Render("example", []byte(text), d, false))
	}
	return found
}

func TestEveryExampleChecksAndIsCanonical(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range guide.Words() {
		if seen[e.Example] {
			continue
		}
		seen[e.Example] = true
		for _, f := range findings(t, e.Example) {
			t.Errorf("%s: %s", e.Word, f)
		}
		text, _ := awl.Format([]byte(e.Example))
		if string(text) != e.Example && !strings.Contains(e.Example, "workflow tolerated") {
			t.Errorf("the example of %s is not canonical", e.Word)
		}
	}
}

func TestEveryWordOfTheLanguageIsExplained(t *testing.T) {
	t.Parallel()
	words := strings.Fields(`workflow input signal outcome type schema worker action child subflow step const after fork join loop
		counting until max visits sequential spawn wait sleep on when if otherwise else route is not and or true
		false null in json of distribute sequence collect
		command run runs capture cwd export timeout retry every backoff node filter map sort count any all empty present
		absent success failure text lines id Bool Int Float String Nil Dir List`)
	all := guide.Words()
	var names []string
	for _, e := range all {
		names = append(names, e.Word)
	}
	for _, w := range words {
		if !slices.Contains(names, w) {
			t.Errorf("%s is not explained", w)
		}
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(all) {
		t.Error("a word is explained twice")
	}
}

func TestEveryExplanationIsCompleteAndItsExampleUsesTheWord(t *testing.T) {
	t.Parallel()
	for _, e := range guide.Words() {
		if e.Line == "" || e.Meaning == "" || e.Grammar == "" && e.Word != "//" {
			t.Errorf("%+v is incomplete", e)
		}
		pattern := regexp.QuoteMeta(strings.Trim(e.Word, "}]"))
		if regexp.MustCompile(`^\w+$`).MatchString(e.Word) {
			pattern = `\b` + pattern + `\b`
		}
		if e.Word != "null" && !regexp.MustCompile(pattern).MatchString(e.Example) {
			t.Errorf("the example of %s does not use it", e.Word)
		}
		if utf8.RuneCountInString(e.Line) > 80 {
			t.Errorf("%s: the line is too long", e.Word)
		}
	}
}

var production = regexp.MustCompile(`(?m)^([a-z_]+)\s*= `)

func TestTheGuideShowsTheRuleOfEachConstruct(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, e := range guide.Words() {
		all.WriteString(e.Grammar + "\n")
	}
	defined := map[string]bool{}
	for _, m := range production.FindAllStringSubmatch(all.String(), -1) {
		defined[m[1]] = true
	}
	for _, name := range []string{"item", "step", "statement", "call", "pipe", "expr", "typeref", "clause", "region"} {
		if !defined[name] {
			t.Errorf("no word shows the rule %s", name)
		}
	}
}

func TestLookupNamesTheNearestWord(t *testing.T) {
	t.Parallel()
	if e, _, ok := guide.Lookup("collect"); !ok || !strings.Contains(e.Grammar, "collect     =") || !strings.Contains(e.Example, "collect line?") {
		t.Errorf("%+v", e)
	}
	if _, near, ok := guide.Lookup("colect"); ok || near != "collect" {
		t.Errorf("near %q", near)
	}
	if _, near, ok := guide.Lookup("zzzzzz"); ok || near != "" {
		t.Errorf("near %q", near)
	}
}

var fence = regexp.MustCompile("(?s)```awl\n(.*?)```")

func TestTheCardIsShortAndItsExamplesCheck(t *testing.T) {
	t.Parallel()
	card := guide.Card()
	if n := utf8.RuneCountInString(card); n > 16_000 {
		t.Errorf("the card has %d characters", n)
	}
	examples := fence.FindAllStringSubmatch(card, -1)
	if len(examples) < 3 || strings.Count(card, "```") != 2*len(examples) {
		t.Errorf("%d examples", len(examples))
	}
	for _, m := range examples {
		for _, f := range findings(t, m[1]) {
			t.Error(f)
		}
		if text, _ := awl.Format([]byte(m[1])); string(text) != m[1] {
			t.Errorf("an example of the card is not canonical:\n%s", text)
		}
	}
}

// An agent that has only the card knows every word that cannot be a name.
func TestTheCardShowsTheConstructs(t *testing.T) {
	t.Parallel()
	card := guide.Card()
	for _, e := range guide.Words() {
		if rare := []string{"List", "if", "else", "{{}}", "[]"}; slices.Contains(rare, e.Word) {
			continue
		}
		if !strings.Contains(card, e.Word) {
			t.Errorf("the card does not show %s", e.Word)
		}
	}
}

func TestTemplatesCheckUnderAnyName(t *testing.T) {
	t.Parallel()
	all := guide.Templates()
	if len(all) < 7 {
		t.Errorf("%d templates", len(all))
	}
	for _, tpl := range all {
		if tpl.Title == "" || strings.Contains(tpl.Title, "\n") {
			t.Errorf("%s has the title %q", tpl.Name, tpl.Title)
		}
		for _, name := range []string{"", "my_flow"} {
			text, err := guide.Source(tpl.Name, name)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, "\nworkflow "+name) {
				t.Errorf("%s is not called %s", tpl.Name, name)
			}
			for _, f := range findings(t, text) {
				t.Errorf("%s: %s", tpl.Name, f)
			}
			if canonical, _ := awl.Format([]byte(text)); string(canonical) != text {
				t.Errorf("%s is not canonical", tpl.Name)
			}
		}
	}
	if _, err := guide.Source("nothing", ""); err == nil || !strings.Contains(err.Error(), "hello, approval") {
		t.Errorf("%v", err)
	}
}
