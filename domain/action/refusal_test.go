package action_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aion/domain/action"
)

// refusal gives the failure of a dispatch that is refused before anything is started.
func refusal(t *testing.T, b action.Body, ps []action.Param, input string, env ...string) *action.Failed {
	t.Helper()
	in, f := action.ParseInput(json.RawMessage(input))
	if f != nil {
		t.Fatal(f)
	}
	p, f := action.Prepare(b, ps)
	if f != nil {
		return f
	}
	_, f = p.Render(in, action.World{Root: "/srv/ws", Env: env})
	return f
}

// actions 19: a message names the parameter and the remedy, and quotes at most 64 characters of a value.
func TestARefusalNamesTheParameterAndTheRemedy(t *testing.T) {
	t.Parallel()
	long, huge := strings.Repeat("V", 1000), strings.Repeat("V", action.MaxArgument+1)
	spread := func(t *testing.T, kind string, text ...string) action.Body {
		t.Helper()
		p := action.Parameter{Name: "x", Kind: kind}
		if text != nil {
			p.Default = &text[0]
		}
		return command(t, []action.Parameter{p}, "echo {{x}}")
	}
	for _, c := range []struct {
		code, param, input string
		body               action.Body
		want               []string
	}{
		{action.CodeBodyUnparsable, "x", `{}`, runBody("echo 'x"), []string{"a quote is never closed at byte 5", "deploy it again"}},
		{action.CodeBodyUnparsable, "x", `{}`, runBody("echo {{x"), []string{"no valid hole at byte 5", "deploy it again"}},
		{action.CodeBodyUnparsable, "x", `{}`, runBody(" "), []string{"there is no program", "deploy it again"}},
		{action.CodeBodyUnparsable, "x", `{}`, runBody("a{{x}}"), []string{"the program comes from a parameter", "deploy it again"}},
		{action.CodeArgumentUndeclared, "y", `{"` + long + `":1}`, runBody("echo {{y}}"), []string{"remove it, or declare the parameter"}},
		{action.CodeValueAbsent, "x", `{"x":null}`, runBody("echo {{x}}"), []string{"`x`", "pass one, or make the parameter optional"}},
		{action.CodeValueAbsent, "x*", `{}`, spread(t, action.KindList), []string{"`x`", "pass one, or make the parameter optional"}},
		{action.CodeValueAbsent, "x*", `{"x":[]}`, spread(t, action.KindList1), []string{"`x`", "at least one value"}},
		{action.CodeShapeMismatch, "x", `{"x":["` + long + `"]}`, runBody("echo {{x}}"), []string{"`x`", "an array", "pass a string, a number or a boolean"}},
		{action.CodeShapeMismatch, "x*", `{"x":"` + long + `"}`, runBody("echo {{x}}"), []string{"`x`", "a string", "pass an array"}},
		{action.CodeShapeMismatch, "x*", `{"x":[1,{"a":"` + long + `"}]}`, runBody("echo {{x}}"), []string{"`x[1]`", "an object", "pass a string"}},
		{action.CodeLeadingDash, "x", `{"x":"-` + long + `"}`, runBody("git clone {{x}}"), []string{"`x`", "`git`", "literal `--` before", "`--name={{x}}`"}},
		{action.CodeNulInValue, "x", `{"x":"` + long + `\u0000"}`, runBody("echo {{x}}"), []string{"`x`", "at byte 1000", "remove it"}},
		{action.CodeNulInValue, "x?", `{}`, spread(t, action.KindOne, "a\x00"), []string{"`x`", "at byte 1", "remove it"}},
		{action.CodePathTraversal, "x", `{"x":"../` + long + `"}`, runBody("ls {workspace_root}/{{x}}"), []string{"`x`", "stays below"}},
		{action.CodePathTraversal, "x", `{"x":"` + long + `"}`, runBody("ls {workspace_root}{{x}}"), []string{"`x`", "stays below"}},
		{action.CodePathTraversal, "x", `{"x":"./` + long + `"}`, runBody("ls {workspace_root}/.{{x}}"), []string{"`x`", "leaves {workspace_root}", "stays below"}},
		{action.CodeArgumentTooLarge, "x", `{"x":"` + huge + `"}`, runBody("echo a {{x}}"), []string{"word 3", "`x`", "131072 bytes", "at most 131071", "a file and pass its path"}},
		{action.CodeArgumentTooLarge, "x", `{"x":"` + huge[3:] + `"}`, runBody("echo a=={{x}}"), []string{"`x`", "131072 bytes", "a file and pass its path"}},
		{action.CodeArgumentTooLarge, "x*", `{"x":["","` + huge + `"]}`, runBody("echo {{x}}"), []string{"word 3", "`x`", "131072 bytes"}},
		{action.CodeArgumentsTooLarge, "x", `{"x":"` + huge[1:] + `"}`, runBody("echo" + strings.Repeat(" {{x}}", 8)), []string{"1048576 bytes", "to a file and pass its path"}},
	} {
		f := refusal(t, c.body, params(c.param), c.input)
		if f == nil || f.Class != action.Terminal || f.Code != c.code || strings.Count(f.Message, "V") > 64 {
			t.Errorf("%s: %.300v", c.code, f)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(f.Message, want) {
				t.Errorf("%s: no %q in %q", c.code, want, f.Message)
			}
		}
	}
}

// actions 19, 22: each word and each entry of the environment counts with its NUL and 8 bytes of pointer.
func TestTheLargestCommandIsExact(t *testing.T) {
	t.Parallel()
	env := []string{"PATH=/bin", "K=" + strings.Repeat("k", 70_000)}
	rest := action.MaxArguments - len("echo") - 9
	for _, e := range env {
		rest -= len(e) + 9
	}
	var words []string
	for rest > 0 {
		n := min(action.MaxArgument, rest-9)
		words = append(words, strings.Repeat("x", n))
		rest -= n + 9
	}
	for _, c := range []struct {
		more int
		want string
	}{{0, ""}, {1, action.CodeArgumentsTooLarge}} {
		list := slices.Clone(words)
		list[len(list)-1] += strings.Repeat("x", c.more)
		raw, err := json.Marshal(map[string]any{"x": list})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if f := refusal(t, runBody("echo {{x}}"), params("x*"), string(raw), env...); f != nil {
			got = f.Code
		}
		if got != c.want {
			t.Errorf("%d above the limit: %q", c.more, got)
		}
	}
	largest := strings.Repeat("x", action.MaxArgument-2)
	for text, want := range map[string]string{"echo a={{x}}": "", "echo ab={{x}}": action.CodeArgumentTooLarge} {
		got := ""
		if f := refusal(t, runBody(text), params("x"), fmt.Sprintf(`{"x":%q}`, largest)); f != nil {
			got = f.Code
		}
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	if f := refusal(t, runBody("echo"), nil, `{}`, "K="+strings.Repeat("k", action.MaxArgument)); f == nil || f.Code != action.CodeArgumentTooLarge {
		t.Errorf("a large variable: %v", f)
	}
}

// actions 25: an optional list of an action may stay away where a command takes any number.
func TestAnAbsentOptionalListLeavesACommand(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{action.KindList: "echo|end", action.KindList1: action.CodeValueAbsent} {
		b := command(t, []action.Parameter{{Name: "x", Kind: kind}}, "echo {{x}} end")
		if got := render(t, b, params("x*?"), `{}`); got != want {
			t.Errorf("%s: %s", kind, got)
		}
	}
}
