package postgres_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aion/test/postgres"
)

// holder makes the test binary another process that holds a server: "shared" or "frozen".
const holder = "AION_POSTGRES_TEST_HOLDER"

// TestHolder says where its server is and holds it until standard input ends. It is the other process of the next test.
func TestHolder(t *testing.T) {
	t.Parallel()
	how := os.Getenv(holder)
	if how == "" {
		return
	}
	var dsn string
	then := func() {}
	if how == "frozen" {
		s := postgres.Start(t)
		dsn, then = s.DSN(), s.Freeze
	} else {
		dsn = postgres.Database(t)
	}
	conn := connect(t, dsn)
	port, data := conn.Config().Port, ask[string](t, conn, "SHOW data_directory")
	then()
	fmt.Printf("\nholds %d %s\n", port, filepath.Dir(data))
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func TestServerEndsWithItsProcessHoweverThatEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		how    string
		killed bool
	}{
		"the tests end":                         {how: "shared"},
		"killed":                                {how: "shared", killed: true},
		"killed while its own server is frozen": {how: "frozen", killed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHolder$", "-test.timeout=5m")
			cmd.Env = append(os.Environ(), holder+"="+c.how, postgres.Variable+"=")
			cmd.Stderr = os.Stderr
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			addr, folder := holds(t, stdout)
			if !listens(addr) {
				t.Errorf("nobody listens on %s", addr)
			}
			if c.killed {
				_ = cmd.Process.Kill()
			}
			_ = stdin.Close()
			_, _ = io.Copy(io.Discard, stdout)
			if err := cmd.Wait(); (err != nil) != c.killed {
				t.Errorf("the process ended with %v", err)
			}
			eventually(t, "the server is gone", func() bool { return !listens(addr) })
			eventually(t, "its folder is gone", func() bool { _, err := os.Stat(folder); return os.IsNotExist(err) })
		})
	}
}

// holds reads what a holder says.
func holds(t *testing.T, stdout io.Reader) (addr, folder string) {
	t.Helper()
	lines := bufio.NewScanner(stdout)
	var said strings.Builder
	for lines.Scan() {
		var port string
		if n, _ := fmt.Sscanf(lines.Text(), "holds %s %s", &port, &folder); n == 2 {
			return net.JoinHostPort("127.0.0.1", port), folder
		}
		said.WriteString(lines.Text() + "\n")
	}
	t.Fatalf("the process holds no server:\n%s", said.String())
	return "", ""
}

func TestWithServesACommandAndEndsWithItsCode(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "with")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./with").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	run := func(variable string) (string, int) {
		cmd := exec.CommandContext(t.Context(), binary, "sh", "-c", `echo "$`+postgres.Variable+`"; exit 3`)
		cmd.Env = append(os.Environ(), postgres.Variable+"="+variable)
		cmd.Stderr = os.Stderr
		out, _ := cmd.Output()
		return strings.TrimSpace(string(out)), cmd.ProcessState.ExitCode()
	}
	dsn, code := run("")
	if !strings.HasPrefix(dsn, "postgres://") || code != 3 {
		t.Errorf("DSN %q, exit code %d", dsn, code)
	}
	if given, code := run(dsn); given != dsn || code != 3 {
		t.Errorf("DSN %q in place of the given %q, exit code %d", given, dsn, code)
	}
}
