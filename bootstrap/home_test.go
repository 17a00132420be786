package bootstrap_test

import (
	"strings"
	"testing"

	"aion/bootstrap"
)

// server 4.1: the home is absolute; the refusal names where the value came from and what to write.
func TestARelativeHomeIsRefusedByItsSource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, env, want string }{
		{"rel/x", "", `--home rel/x is not an absolute path; for a place below this folder write "$PWD/rel/x"`},
		{"", "./rel/", `AION_HOME ./rel/ is not an absolute path; for a place below this folder write "$PWD/rel"`},
	} {
		_, err := bootstrap.Load(nil, []string{"HOME=/tmp", "AION_HOME=" + c.env}, c.flag, "")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, wanted %q", err, c.want)
		}
	}
}
