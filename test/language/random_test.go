package language_test

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aion/domain/awl/check"
	"aion/domain/awl/compile"
	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
	"aion/domain/machine"
	"aion/test/language"
)

// planned checks and compiles a document that must be green.
func planned(t *rapid.T, src string) (*syntax.Document, *plan.Plan) {
	doc, parsed := syntax.Parse([]byte(src))
	res, found := check.Check(doc, parsed, nil)
	for _, d := range found {
		if d.Severity == diag.Error {
			t.Fatalf("%d:%d %s %s\n%s", d.Span.Start.Line, d.Span.Start.Column, d.Code, d.Message, src)
		}
	}
	p, err := compile.Compile(doc, res, strings.Repeat("ab", 32))
	if err != nil {
		t.Fatalf("a checked document does not compile: %v\n%s", err, src)
	}
	return doc, p
}

// prints holds the canonical form to the document: reading it again gives the same tree, and printing that the same text.
func prints(t *rapid.T, src string, doc *syntax.Document) {
	text := syntax.Print(doc)
	again, found := syntax.Parse(text)
	if diag.HasErrors(found) {
		t.Fatalf("the canonical form does not parse: %v\n%s\n--- from\n%s", found, text, src)
	}
	if a, b := language.Shape(doc), language.Shape(again); a != b {
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		t.Fatalf("the canonical form reads as another document: %.200s became %.200s\n%s\n--- from\n%s", a[max(0, i-80):], b[max(0, i-80):], text, src)
	}
	if twice := syntax.Print(again); !bytes.Equal(twice, text) {
		t.Fatalf("printing twice differs\n%s\n--- from\n%s", cmp.Diff(string(text), string(twice)), src)
	}
	if a, b := strings.Count(src, "// A remark."), strings.Count(string(text), "// A remark."); a != b {
		t.Fatalf("%d comments became %d\n%s\n--- from\n%s", a, b, text, src)
	}
}

// encodes holds the stored form of a plan to the plan.
func encodes(t *rapid.T, p *plan.Plan) *plan.Plan {
	text, err := plan.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := plan.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p, decoded) {
		t.Fatal(cmp.Diff(p, decoded))
	}
	if again, err := plan.Encode(decoded); err != nil || !bytes.Equal(text, again) {
		t.Fatalf("encoding twice differs: %v", err)
	}
	return decoded
}

// wholeLanguage is everything that holds for any document that checks.
func wholeLanguage(t *rapid.T, y *tally) {
	src := language.Document(t)
	doc, p := planned(t, src)
	prints(t, src, doc)
	p = encodes(t, p)
	r := &randomRun{t: t, src: src, doc: doc, plan: p, seed: rapid.Uint64().Draw(t, "world")}
	got, w, player := r.play(0)
	calm := language.NewWorld(p, r.seed)
	d := language.NewDirect(doc, calm)
	want := d.Run()
	y.count(player, d, got)
	if rapid.IntRange(0, 9).Draw(t, "generations") == 9 {
		if again, _, chain := r.play(20); !d.Racy {
			r.agrees(want, again, chain)
			y.add("chained")
		}
	}
	if d.Racy {
		return
	}
	r.agrees(want, got, player)
	if diff := cmp.Diff(calm.Effects(), w.Effects()); diff != "" && !d.Cut {
		t.Fatalf("effects differ (-interpreter +machine): %s\n%s\n%s", diff, src, told(player))
	}
}

// randomRun is a document in a world, which can be run several times.
type randomRun struct {
	t    *rapid.T
	src  string
	doc  *syntax.Document
	plan *plan.Plan
	seed uint64
}

// play runs the document with a limit of its history, and replays it.
func (r *randomRun) play(limit int) (language.Result, *language.World, *language.Player) {
	w := language.NewWorld(r.plan, r.seed)
	player := &language.Player{
		Plan: r.plan, World: w, Options: machine.Options{HistoryLimit: limit},
		Choose: func(n int) int { return rapid.IntRange(0, n-1).Draw(r.t, "next") },
	}
	got, err := player.Play()
	if err == nil {
		err = player.Replays()
	}
	if err != nil {
		r.t.Fatalf("%v\n%s\n%s", err, r.src, told(player))
	}
	return got, w, player
}

func (r *randomRun) agrees(want language.Ending, got language.Result, p *language.Player) {
	if err := want.Agrees(got); err != nil {
		r.t.Fatalf("%v\n%s\n%s", err, r.src, told(p))
	}
}

func told(p *language.Player) string {
	var b strings.Builder
	for _, e := range p.History {
		fmt.Fprintf(&b, "%d %s %s\n", e.Seq, e.Type, e.Data)
	}
	return b.String()
}

// The numbers of documents that a run of the tests makes: AION_SOAK=1 asks for the large one, and the race detector
// makes one document cost what ten do.
const (
	ciDocuments   = 10_000
	raceDocuments = 1_000
	soakDocuments = 1_000_000
)

func documents() int {
	switch {
	case os.Getenv("AION_SOAK") == "1":
		return soakDocuments
	case raceEnabled:
		return raceDocuments
	}
	return ciDocuments
}

// awl 7, D2, D3: any document that checks compiles, prints as itself, runs to an outcome without a fault on a type, replays
// as recorded, and does what a direct reading of its text does.
func TestRandomDocumentsDoWhatTheySay(t *testing.T) {
	y := newTally()
	t.Run("parts", func(t *testing.T) {
		for i := range parts {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) { wholeLanguage(t, y) })
			})
		}
	})
	if !t.Failed() {
		y.report(t)
	}
}
