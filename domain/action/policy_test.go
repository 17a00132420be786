package action_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"aion/domain/action"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// actions 54
func TestAFixedRetryWaitsExactly(t *testing.T) {
	t.Parallel()
	r := &action.Retry{MaxAttempts: 4, Backoff: action.Backoff{Kind: action.BackoffFixed, DelayMS: 1000}}
	for failures, want := range map[int]string{0: "0s false", 1: "1s true", 2: "1s true", 3: "1s true", 4: "0s false", 9: "0s false"} {
		d, ok := action.NextDelay(r, failures, 0.7)
		if got := fmt.Sprint(d, ok); got != want {
			t.Errorf("after %d: %s", failures, got)
		}
	}
	if _, ok := action.NextDelay(nil, 1, 0); ok {
		t.Error("a retry without a policy")
	}
}

// actions 55
func TestABackoffStaysInItsBounds(t *testing.T) {
	t.Parallel()
	r := &action.Retry{MaxAttempts: 6, Backoff: action.Backoff{Kind: action.BackoffExponential, InitialMS: 1000, Multiplier: 2, MaxMS: 10000}}
	for k, base := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 4: 8 * time.Second, 5: 10 * time.Second} {
		for i := range 10000 {
			d, ok := action.NextDelay(r, k, float64(i)/10000)
			if !ok || d < base*8/10 || d > min(base*12/10, 10*time.Second) {
				t.Fatalf("retry %d, draw %d: %s", k, i, d)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := action.Backoff{
			Kind: rapid.SampledFrom([]string{"fixed", "exponential", ""}).Draw(t, "kind"), DelayMS: rapid.Int64().Draw(t, "delay"),
			InitialMS: rapid.Int64().Draw(t, "initial"), Multiplier: rapid.Float64().Draw(t, "multiplier"), MaxMS: rapid.Int64().Draw(t, "max"),
		}
		r := &action.Retry{MaxAttempts: rapid.Int().Draw(t, "attempts"), Backoff: b}
		if d, _ := action.NextDelay(r, rapid.Int().Draw(t, "failures"), rapid.Float64().Draw(t, "factor")); d < 0 {
			t.Fatalf("negative delay %s", d)
		}
	})
}

// actions 56
func TestOnlyAuthoredFailuresUseTheBudget(t *testing.T) {
	t.Parallel()
	for class, want := range map[action.Class]bool{
		action.Retryable: true, action.Timeout: true, action.Lost: false, action.Terminal: false,
		action.PolicyRefused: false,
	} {
		if class.Budgeted() != want {
			t.Error(class)
		}
	}
}

func TestAMalformedConfigIsRefused(t *testing.T) {
	t.Parallel()
	retry := func(n int, b action.Backoff) action.Config {
		return action.Config{Retry: &action.Retry{MaxAttempts: n, Backoff: b}}
	}
	for name, c := range map[string]action.Config{
		"timeout": {TimeoutMS: -1}, "attempts": retry(0, action.Backoff{Kind: "fixed"}), "kind": retry(1, action.Backoff{Kind: "linear"}),
		"delay":   retry(1, action.Backoff{Kind: "fixed", DelayMS: -1}),
		"falling": retry(1, action.Backoff{Kind: "exponential", InitialMS: 5, MaxMS: 4, Multiplier: 2}),
		"shrinks": retry(1, action.Backoff{Kind: "exponential", InitialMS: 5, MaxMS: 9, Multiplier: 0.5}),
	} {
		if f := c.ConfigFailure(); f == nil || f.Code != action.CodeConfigInvalid || f.Class != action.Terminal {
			t.Errorf("%s: %v", name, f)
		}
	}
	for name, c := range map[string]action.Config{
		"zero": {}, "fixed": retry(4, action.Backoff{Kind: "fixed", DelayMS: 1}),
		"rising": retry(4, action.Backoff{Kind: "exponential", InitialMS: 1, MaxMS: 2, Multiplier: 2}),
	} {
		if f := c.ConfigFailure(); f != nil {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func versions() (a, b, c action.DeclaringVersion) {
	one, two := runBody("echo one"), runBody("echo two")
	a = action.DeclaringVersion{ContentHash: strings.Repeat("a", 64), WorkflowTypes: []string{"brief"}, Body: &one}
	b = action.DeclaringVersion{ContentHash: strings.Repeat("b", 64), WorkflowTypes: []string{"brief", "digest"}, RouteActive: true, Body: &two}
	c = action.DeclaringVersion{ContentHash: strings.Repeat("c", 64), WorkflowTypes: []string{"plain"}, RouteActive: true}
	return a, b, c
}

// actions 16
func TestAKnownVersionDecidesAlone(t *testing.T) {
	t.Parallel()
	a, b, c := versions()
	same := a
	same.ContentHash = strings.Repeat("d", 64)
	for name, tc := range map[string]struct {
		hash string
		in   []action.DeclaringVersion
		want string
	}{
		"its own body":             {a.ContentHash, []action.DeclaringVersion{b, a}, "echo one"},
		"without a body":           {c.ContentHash, []action.DeclaringVersion{a, b, c}, "action.NoBody"},
		"not retained":             {strings.Repeat("e", 64), []action.DeclaringVersion{a, b}, "action.NoBody"},
		"unknown, none":            {"", []action.DeclaringVersion{c}, "action.NoBody"},
		"unknown, nothing":         {"", nil, "action.NoBody"},
		"unknown, one body, twice": {"", []action.DeclaringVersion{a, same, c}, "echo one"},
		"unknown, two bodies":      {"", []action.DeclaringVersion{a, b, same}, "action.Ambiguous"},
	} {
		got := action.Select(tc.hash, tc.in)
		text := fmt.Sprintf("%T", got)
		if d, ok := got.(action.Declared); ok {
			text = d.Body.Run.Command
		}
		if text != tc.want {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// actions 6, 7
func TestTheAmbiguityRefusalCarriesItsRemedy(t *testing.T) {
	t.Parallel()
	a, b, c := versions()
	amb, ok := action.Select("", []action.DeclaringVersion{a, b, c}).(action.Ambiguous)
	if !ok {
		t.Fatal("not ambiguous")
	}
	f := action.AmbiguousBody("go", "tools", amb)
	last := -1
	for _, part := range []string{
		"terminal:", "`go`", "`tools`", "2 different bodies", "`aion unload brief " + a.ContentHash + "`",
		"brief " + b.ContentHash, "digest " + b.ContentHash,
	} {
		at := strings.Index(f.Error(), part)
		if at <= last {
			t.Errorf("%q at %d in %s", part, at, f.Error())
		}
		last = at
	}
	hash := regexp.MustCompile("`aion unload brief ([0-9a-f]{64})`").FindStringSubmatch(f.Message)
	if diff := cmp.Diff(a.ContentHash, hash[1]); diff != "" {
		t.Error(diff)
	}
	a.RouteActive = true
	amb, _ = action.Select("", []action.DeclaringVersion{a, b}).(action.Ambiguous)
	if f := action.AmbiguousBody("go", "tools", amb); strings.Contains(f.Message, "aion unload") || !strings.Contains(f.Message, "rename the action") {
		t.Error(f.Message)
	}
	var all action.Ambiguous
	for i := range 40 {
		v := a
		v.ContentHash, v.RouteActive = fmt.Sprintf("%064x", i), false
		all.Versions = append(all.Versions, v)
	}
	if f := action.AmbiguousBody("go", "tools", all); strings.Count(f.Message, "`aion unload brief 0") != 40 {
		t.Errorf("a superseded version is not named: %s", f.Message)
	}
	var many action.Ambiguous
	for range 1000 {
		v := b
		v.RouteActive = false
		many.Versions = append(many.Versions, v)
	}
	if f := action.AmbiguousBody("go", "tools", many); !strings.HasPrefix(f.Message, "action `go`") || !strings.HasSuffix(f.Message, " more") {
		t.Errorf("cut in front, or not counted: %.80s", f.Message)
	}
}
