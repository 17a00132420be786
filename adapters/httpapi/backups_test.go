package httpapi_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aion/bootstrap"
)

// server 45, server 47: a server backs itself up under a name or the time, records it, and shows what it has.
func TestAServerBacksItselfUp(t *testing.T) {
	t.Parallel()
	var dir string
	w := newWorld(t, func(c *bootstrap.Config) {
		dir = c.BackupDir
		c.StoreBackend, c.BackupKeep = "sqlite", 2
	})
	const path = "/api/v1/backups"
	if list := w.get(path).ok(http.StatusOK).object()["backups"].([]any); len(list) != 0 {
		t.Errorf("%v", list)
	}
	w.save("a.awl", "1").ok(http.StatusCreated)
	for _, name := range []string{"one.tar", "two.tar", "three.tar"} {
		made := w.post(path, `{"name":"`+name+`"}`).ok(http.StatusCreated).object()
		if made["file"] != name || len(made["sha256"].(string)) != 64 || len(made["heads"].([]any)) != 1 {
			t.Errorf("%v", made)
		}
	}
	list := w.get(path).ok(http.StatusOK).object()["backups"].([]any)
	if len(list) != 2 {
		t.Errorf("%v", list)
	}
	info, err := os.Stat(filepath.Join(dir, "three.tar"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	w.post(path, `{"name":"three.tar"}`).refused(http.StatusConflict, "invalid_state", "BackupExists")
	for _, name := range []string{"../x.tar", "/x.tar", "x", ".tar", ".x.tar", "a/b.tar", strings.Repeat("x", 200) + ".tar", "x.tar\\u0000"} {
		w.post(path, `{"name":"`+name+`"}`).refused(http.StatusBadRequest, "invalid_input", "SchemaViolation")
	}
	named := w.post(path, `{}`).ok(http.StatusCreated).object()["file"].(string)
	if !strings.HasPrefix(named, "aion-") {
		t.Errorf("%s", named)
	}
	records := w.get("/api/v1/audit?action=backup.create&outcome=ok").ok(http.StatusOK).object()["records"].([]any)
	if len(records) != 4 || records[0].(map[string]any)["target"] != "one.tar" {
		t.Errorf("%v", records)
	}
	if text := w.get("/metrics").body; !strings.Contains(string(text), "aion_backup_last_success_timestamp_seconds 1.") {
		t.Error("the backup is not in the metrics")
	}
}

func TestBackupsNeedTheDeployGrantAndAStoreThatStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withToken)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		w.do(method, "/api/v1/backups", map[string]string{http.MethodPost: `{}`}[method], as("bob", "acme", false)...).refused(http.StatusForbidden, "deploy_denied", "DeployGrantMissing")
	}
	w.post("/api/v1/backups", `{}`, as("ada", "acme", true)...).refused(http.StatusServiceUnavailable, "not_configured", "StoreForgets")
}
