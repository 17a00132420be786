package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each of these documents would take hours if the work on it grew faster than its size; the test's own limit of time is
// the judge.

func TestFiveHundredStepsInCyclesAreJudged(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(opening + "worker tools\n  action go(n: Int) -> Int\n\n")
	for i := range 499 {
		fmt.Fprintf(&b, "step s%d\n", i)
		for j := range 60 {
			fmt.Fprintf(&b, "  go(n: n) -> v%d_%d\n", i, j)
		}
		fmt.Fprintf(&b, "  outcome a: when v%d_0 > 3, route s%d\n  outcome b: otherwise, route s%d\n  max 3 visits\n\n",
			i, i*7%500, i+1)
	}
	b.WriteString("step s499\n  route done(v0_3)\n")
	if _, found := checked(b.String(), nil); len(found) > 0 {
		t.Errorf("found %v", found[:1])
	}
}

func TestFactsOfManyClausesAreJudged(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("//! A document.\nworkflow w\n  input n: Int\n  outcome done: type Int, route success\n")
	for i := range 500 {
		fmt.Fprintf(&b, "  input o%d: Int?\n", i)
	}
	for i := range 499 {
		fmt.Fprintf(&b, "\nstep s%d\n", i)
		for j := range 20 {
			fmt.Fprintf(&b, "  outcome a%d: when o%d is absent, route s%d\n", j, (i*31+j)%500, (i*31+j*17)%500)
		}
		fmt.Fprintf(&b, "  outcome z: otherwise, route s%d\n  max 3 visits\n", i+1)
	}
	b.WriteString("\nstep s499\n  route done(n)\n")
	if _, found := checked(b.String(), nil); len(found) > 0 {
		t.Errorf("found %v", found[:1])
	}
}

func TestExponentialNestsOfTypesAreCompared(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(opening + "type T0 { a: Int }\ntype U0 { a: Int }\n")
	for i := 1; i < 450; i++ {
		fmt.Fprintf(&b, "type T%d { a: T%d, b: T%d }\ntype U%d { b: U%d, a: U%d }\n", i, i-1, i-1, i, i-1, i-1)
	}
	b.WriteString("child make() -> T449\nchild take(t: U449) -> T448\n\nstep s\n  make() -> t\n  take(t: t) -> x\n  take(t: x) -> y\n" +
		"  route done(n)\n")
	_, found := checked(b.String(), nil)
	if diff := cmp.Diff([]string{"AWL3001 at 912:11"}, places(found)); diff != "" {
		t.Errorf("findings (-want, +got):\n%s", diff)
	}
}

func TestManyMistakesAreJudged(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(opening + "type Big { ")
	for i := range 10_000 {
		fmt.Fprintf(&b, "field%d: Int?, ", i)
	}
	b.WriteString("}\n\nstep s\n  Big() -> big\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "  [unknown%d, big.feld%d] -> v%d\n", i, i, i)
	}
	b.WriteString("  route done(n)\n")
	if _, found := checked(b.String(), nil); len(found) != 20_000 {
		t.Errorf("%d findings, want 20000", len(found))
	}
}

func TestNamesOfTwoTypesAreFollowed(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(opening + "step a\n  outcome x: when n > 1, route b\n  outcome y: otherwise, route c\n")
	for i, value := range []string{"1", `""`} {
		fmt.Fprintf(&b, "\nstep %c\n", 'b'+rune(i))
		for j := range 15_000 {
			fmt.Fprintf(&b, "  %s -> v%d\n", value, j)
		}
		b.WriteString("  route d0\n")
	}
	for i := range 490 {
		fmt.Fprintf(&b, "\nstep d%d\n  outcome x: when n > 1, route d%d\n  outcome y: otherwise, route d%d\n  max 2 visits\n",
			i, i*7%490, min(i+1, 489))
	}
	_, found := checked(b.String(), nil)
	if diff := cmp.Diff([]string{"AWL3014 at 30016:6"}, places(found)); diff != "" {
		t.Errorf("findings (-want, +got):\n%s", diff)
	}
}

func TestLargeEnumsAreCoveredStepByStep(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("//! A document.\nworkflow w\n  input e: E\n  outcome done: type Int, route success\n\ntype E = A0")
	for i := range 20_000 {
		fmt.Fprintf(&b, " | A%d", i+1)
	}
	for i := range 499 {
		fmt.Fprintf(&b, "\n\nstep s%d\n", i)
		for j := range 30 {
			fmt.Fprintf(&b, "  outcome x%d: when e == A%d, route s%d\n", j, j, i+1)
		}
	}
	b.WriteString("\nstep s499\n  route done(1)\n")
	_, found := checked(b.String(), nil)
	for _, d := range found {
		if d.Code != "AWL4009" {
			t.Fatalf("found %v", d)
		}
	}
	if len(found) != 499 {
		t.Errorf("%d findings, want 499", len(found))
	}
}
