package packaging_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aion/bootstrap"
)

// shipped reads a file of the repository.
func shipped(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// settings are the lines of a unit, name to value; a name that stands twice is a mistake.
func settings(t *testing.T, unit string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(unit) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if _, twice := found[name]; twice {
			t.Errorf("%s stands twice", name)
		}
		found[name] = value
	}
	return found
}

// server 48: the unit is what the server needs, and no looser than it has to be.
func TestTheUnitSaysWhatTheServerNeeds(t *testing.T) {
	t.Parallel()
	got := settings(t, shipped(t, "configs/aion.service"))
	for name, want := range map[string]string{
		"Type": "notify", "ExecStart": "/usr/bin/aion server", "ExecReload": "/bin/kill -HUP $MAINPID", "User": "aion",
		"StateDirectory": "aion", "StateDirectoryMode": "0700", "Environment": "AION_HOME=/var/lib/aion", "UMask": "0077",
		"WatchdogSec": "30", "KillMode": "mixed", "TimeoutStopSec": "60", "Restart": "on-failure", "RestartPreventExitStatus": "2",
		"Delegate": "yes", "LimitNOFILE": "65536", "NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "read-only",
		"PrivateTmp": "yes", "PrivateDevices": "yes", "ProtectKernelTunables": "yes", "ProtectKernelModules": "yes",
		"RestrictSUIDSGID": "yes", "LockPersonality": "yes", "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX", "CapabilityBoundingSet": "",
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %q (there: %t), want %q", name, value, ok, want)
		}
	}
	defaults, err := bootstrap.Defaults("/var/lib/aion")
	if err != nil {
		t.Fatal(err)
	}
	if stop, err := time.ParseDuration(got["TimeoutStopSec"] + "s"); err != nil || stop <= defaults.DrainTimeout {
		t.Errorf("the unit kills after %s (%v) what may drain for %s", stop, err, defaults.DrainTimeout)
	}
}
