package language_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"aion/domain/awl/check"
	"aion/domain/awl/compile"
	"aion/domain/awl/diag"
	"aion/domain/awl/plan"
	"aion/domain/awl/syntax"
	"aion/test/language"
)

// FuzzDocumentRuns takes any text through lexer, parser, checker, compiler and machine: a finding, or a run without a fault
// that the direct interpreter agrees with, in less than a second.
func FuzzDocumentRuns(f *testing.F) {
	for _, folder := range []string{"testdata/constructs", "../../domain/awl/testdata/valid", "../../domain/awl/testdata/invalid"} {
		names, err := filepath.Glob(filepath.Join(folder, "*.awl"))
		if err != nil || len(names) == 0 {
			f.Fatalf("no documents in %s", folder)
		}
		for _, name := range names {
			src, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src, uint64(1))
		}
	}
	random := rapid.Custom(language.Document)
	for seed := range 100 {
		f.Add([]byte(random.Example(seed)), uint64(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte, seed uint64) {
		defer withinASecond(t, src)()
		doc, p := accepted(t, src)
		if p == nil {
			return
		}
		text := syntax.Print(doc)
		again, found := syntax.Parse(text)
		if diag.HasErrors(found) || language.Shape(doc) != language.Shape(again) {
			t.Fatalf("the canonical form reads as another document\n%s\n--- from\n%s", text, src)
		}
		fuzzedRun(t, doc, p, seed)
	})
}

// withinASecond fails when what happens until its answer is called takes a second of processor time; the wall clock
// would tell of neighbours.
func withinASecond(t *testing.T, src []byte) (over func()) {
	t.Helper()
	runtime.LockOSThread()
	spent := func() time.Duration {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := spent()
	return func() {
		took := spent() - began
		runtime.UnlockOSThread()
		if took > time.Second && !raceEnabled {
			t.Errorf("%s of processor time for\n%s", took, src)
		}
	}
}

// accepted compiles a document without errors; nil for others.
func accepted(t *testing.T, src []byte) (*syntax.Document, *plan.Plan) {
	t.Helper()
	doc, parsed := syntax.Parse(src)
	res, found := check.Check(doc, parsed, func(string) ([]byte, error) {
		return []byte(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`), nil
	})
	if diag.HasErrors(found) || doc.Header == nil {
		return nil, nil
	}
	p, err := compile.Compile(doc, res, strings.Repeat("ab", 32))
	var over *compile.LimitError
	if errors.As(err, &over) {
		return nil, nil
	}
	if err != nil {
		t.Fatalf("a checked document does not compile: %v\n%s", err, src)
	}
	return doc, p
}

// fuzzedRun runs a plan for a while. Texts that fuzzing makes may ask for more work than a test has time for.
func fuzzedRun(t *testing.T, doc *syntax.Document, p *plan.Plan, seed uint64) {
	t.Helper()
	chance := rand.New(rand.NewPCG(seed, 1))
	player := &language.Player{Plan: p, World: language.NewWorld(p, seed), Choose: chance.IntN, Facts: 200}
	got, err := player.Play()
	if errors.Is(err, language.ErrLong) {
		return
	}
	if err == nil {
		err = player.Replays()
	}
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, syntax.Print(doc), told(player))
	}
	bounds := []string{"bound_out_of_range", "fan_out_too_large", "value_too_large"}
	if slices.Contains(bounds, got.Code) || strings.Contains(string(syntax.Print(doc)), "schema of") {
		return // the direct interpreter has no bounds, and derives no authored schemas
	}
	d := language.NewDirect(doc, language.NewWorld(p, seed))
	if want := d.Run(); !d.Racy {
		if err := want.Agrees(got); err != nil {
			t.Fatalf("%v\n%s\n%s", err, syntax.Print(doc), told(player))
		}
	}
}
