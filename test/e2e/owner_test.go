package e2e_test

import (
	"bufio"
	"database/sql"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aion/adapters/gormstore"
)

// server 3.2: whoever looks for the owner of a store is sent to nobody who has gone. A server that ends takes its address
// back before it closes its listener, and holds the store until it is done.
func TestServerThatEndsIsFoundByNobody(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := serve(t, home)
	address := strings.TrimPrefix(s.url, "http://")
	open, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Close() }()
	// A request that has begun keeps the server from its end.
	if _, err := io.WriteString(open, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(open)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		t.Fatalf("%q, %v", line, err)
	}
	look := func() string {
		owner, held, err := gormstore.FindOwner(filepath.Join(home, "aion.db"))
		if err != nil || !held {
			t.Fatalf("%+v, %v, %v\n%s", owner, held, err, s.log)
		}
		return owner.Address
	}
	if got := look(); got != s.url {
		t.Fatalf("found at %q, it serves at %q", got, s.url)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nobody is sent there any more", func() bool {
		if look() == "" {
			return true
		}
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		} else if again := look(); again != "" { // gone between the two looks, so the second one has to know
			t.Fatalf("found at %q, where nobody listens: %v", again, err)
		}
		return false
	})
	if _, err := io.WriteString(open, "{}"); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(answers); err != nil || !strings.Contains(string(text), "-32600") {
		t.Errorf("the open request is not served: %q, %v", text, err)
	}
	<-s.done
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit %d:\n%s", code, s.log)
	}
}

// server 5.6: a server whose store cannot be written is not ready, although it can be read; it is again when that is over.
func TestServerThatCannotWriteIsNotReady(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := serve(t, home)
	c := connect(t, s)
	c.deploy("span.awl", span("span", "0"))
	eventually(t, "it is ready", func() bool { return ready(s) == http.StatusOK })
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(home, "aion.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	held, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	start := map[string]any{"namespace": "default", "workflow_type": "span", "input": map[string]any{"dir": t.TempDir(), "key": "k"}}
	if r, err := c.call("start_run", start); err != nil || r.refused["code"] != "unavailable" {
		t.Errorf("a start: %+v, %v", r, err)
	}
	eventually(t, "it is not ready", func() bool { return ready(s) == http.StatusServiceUnavailable })
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is ready again, without a call that writes", func() bool { return ready(s) == http.StatusOK })
	c.must("start_run", start)
}
