package machine_test

import (
	"strings"
	"testing"

	"aion/domain/history"
)

// awl 2.1, awl 7.9: the limits of a run are failures of the step that meets them.
func TestLimitsAreFailuresOfTheStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, code, message string }{
		{"index", "xs[3] -> y\n  route done(y)", "index_out_of_range", "index 3 is out of range; the list has 3 items"},
		{"fork", "fork x in big\n    c()\n  join\n  route done(xs[0])", "fan_out_too_large", "10001 items are more than the 10000"},
		{"loop", "loop y = xs[0]\n    a(x: y) -> y\n    until y == \"\"\n    max 10001\n\n  outcome fine: otherwise, route done(y)", "bound_out_of_range", "`max 10001`"},
		{"visits", "route s\n  max 10001 visits", "bound_out_of_range", "`max 10001 visits`"},
		{"text", "loop y = \"0123456789\"\n    y + y -> y\n    until false\n    max 100\n\n  outcome fine: otherwise, route done(y)", "value_too_large", "2097152"},
		{"list", "loop y = xs\n    y + y -> y\n    until false\n    max 100\n\n  outcome fine: otherwise, route done(y[0])", "value_too_large", "2097152"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			input := strings.TrimSuffix(xs3, "}") + `,"big":` + strings.TrimPrefix(items(10_001), `{"xs":`)
			src := strings.Replace(head, "  input xs", "  input big: [String]\n  input xs", 1)
			s := drive(t, compiled(t, src+"step s\n  "+c.body+"\n"), input)
			f := s.Failure()
			if f == nil || f.Code != c.code || !strings.Contains(f.Message, c.message) || f.Step != "s" {
				t.Errorf("failure %+v", f)
			}
		})
	}
}

// Bounds that multiply do not let one fact run for ever: the run fails, and goes on from there when it is reopened.
func TestOneFactDoesBoundedWork(t *testing.T) {
	t.Parallel()
	p := compiled(t, head+`step s
  loop y = "" counting n
    loop z = y counting m
      z + "" -> z
      until false
      max 10000
    z -> y
    until n == 30
    max 10000

  on failure
    route lost("handled")

  outcome fine: otherwise, route done("ok")
`)
	s := drive(t, p, xs3)
	if f := s.Failure(); s.Status() != history.Failed || f == nil || f.Code != "bound_out_of_range" || f.Step != "" {
		t.Fatalf("%s %+v", s.Status(), f)
	}
}

func TestOneFactEvaluatesBoundedly(t *testing.T) {
	t.Parallel()
	src := strings.Replace(head, "  input xs: [String]", "  input xs: [Row]", 1)
	p := compiled(t, src+`type Row { id: String }

step s
  xs |> filter(.id == "i") -> some
  xs |> all(xs |> all(some |> all(.id == "i"))) -> deep
  route done("ok")

  on failure
    route lost("handled")
`)
	input := `{"xs":[` + strings.TrimSuffix(strings.Repeat(`{"id":"i"},`, 20_000), ",") + `]}`
	s := drive(t, p, input)
	if f := s.Failure(); s.Status() != history.Failed || f == nil || f.Code != "bound_out_of_range" || f.Step != "" {
		t.Fatalf("%s %+v", s.Status(), f)
	}
}
