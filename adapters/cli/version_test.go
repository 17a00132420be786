package cli_test

import (
	"bytes"
	"testing"

	"aion/adapters/cli"
)

// What is not known is left out; the flag says what the command says.
func TestVersionSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	base := cli.Build{Version: "1.2.3", Go: "go1", OS: "linux", Arch: "amd64", MCP: "2026-07-28", Schema: 4}
	rest := " go1 linux/amd64, mcp 2026-07-28, schema 4\n"
	for _, c := range []struct{ commit, built, want string }{
		{"", "", "aion 1.2.3" + rest},
		{"", "2026-01-02", "aion 1.2.3" + rest},
		{"abc", "", "aion 1.2.3 (abc)" + rest},
		{"abc", "2026-01-02", "aion 1.2.3 (abc, 2026-01-02)" + rest},
	} {
		b := base
		b.Commit, b.BuiltAt = c.commit, c.built
		for _, args := range [][]string{{"version"}, {"--version"}, {"-v"}} {
			var out, errs bytes.Buffer
			if code := cli.Run(t.Context(), cli.Program{Out: &out, Err: &errs, Build: b, Backend: &listener{}}, args); code != 0 || out.String() != c.want {
				t.Errorf("%v: exit %d, %q, wanted %q; %s", args, code, out.String(), c.want, errs.String())
			}
		}
	}
}
