package packaging_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// instructions are those of a Dockerfile's last stage, with continued lines joined, and the commands of all stages.
func instructions(text string) (last []string, runs string) {
	text = regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`\s*\\\n\s*`).ReplaceAllString(text, " ")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if strings.HasPrefix(line, "FROM ") {
			last = nil
		}
		if strings.HasPrefix(line, "RUN ") {
			runs += line + "\n"
		}
		last = append(last, line)
	}
	return last, runs
}

// server 48: what the image is made of and how it starts.
func TestTheImageStartsTheServerAsNobody(t *testing.T) {
	t.Parallel()
	last, runs := instructions(shipped(t, "Dockerfile"))
	for _, want := range []string{
		"USER 65532:65532", "ENV AION_HOME=/data/aion AION_SERVER_LISTEN=0.0.0.0:8080", "VOLUME /data", "EXPOSE 8080", "STOPSIGNAL SIGTERM",
		`ENTRYPOINT ["/sbin/tini", "--", "/usr/local/bin/aion"]`, `CMD ["server"]`,
		`HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["aion", "doctor", "--ready", "--quiet"]`,
		"COPY --from=build /aion /usr/local/bin/aion",
	} {
		if !slices.Contains(last, want) {
			t.Errorf("the last stage lacks %s", want)
		}
	}
	for _, label := range []string{"source", "revision", "version", "licenses", "created"} {
		if !strings.Contains(strings.Join(last, "\n"), "org.opencontainers.image."+label+"=") {
			t.Errorf("the label %s is missing", label)
		}
	}
	for _, part := range []string{"ca-certificates", "coreutils", "tini", "-trimpath", "-extldflags -static", "chmod 1777 /data"} {
		if !strings.Contains(runs, part) {
			t.Errorf("no command has %s", part)
		}
	}
	goMod := shipped(t, "go.mod")
	if version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(goMod); version == nil || !strings.Contains(shipped(t, "Dockerfile"), "FROM golang:"+version[1]+"-") {
		t.Errorf("the image is not built with the Go of go.mod: %v", version)
	}
}

// The variables that the linker sets are there: a name that is not is ignored by it without a word.
func TestTheImageStampsVariablesThatExist(t *testing.T) {
	t.Parallel()
	found := regexp.MustCompile(`-X (aion/\w+)\.(\w+)=`).FindAllStringSubmatch(shipped(t, "Dockerfile"), -1)
	if len(found) != 3 {
		t.Fatalf("%d variables are stamped", len(found))
	}
	for _, f := range found {
		sources, err := filepath.Glob(filepath.Join("..", "..", strings.TrimPrefix(f[1], "aion/"), "*.go"))
		if err != nil || len(sources) == 0 {
			t.Fatalf("%s: %v", f[1], err)
		}
		if !slices.ContainsFunc(sources, func(name string) bool {
			text, err := os.ReadFile(name)
			return err == nil && regexp.MustCompile(`(?m)^\t`+f[2]+`\s+= "`).Match(text)
		}) {
			t.Errorf("%s has no variable %s", f[1], f[2])
		}
	}
}

// server 48: as the image starts it, the server refuses to listen for everybody without an auth mode, by the way out.
func TestTheImageNeedsAnAuthMode(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "aion")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "aion/cmd/aion").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), binary, "server")
	cmd.Env = []string{"AION_HOME=" + filepath.Join(t.TempDir(), "aion"), "AION_SERVER_LISTEN=0.0.0.0:8080", "PATH=/usr/bin"}
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "reachable from other machines and auth.mode is off. Set auth.mode to token or jwks") {
		t.Errorf("%v %s", err, out)
	}
}
