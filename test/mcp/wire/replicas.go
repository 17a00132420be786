package wire

import (
	"net/http"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
)

// replicasVar asks the protocol tests to send their requests to two servers of one store in turn.
const replicasVar = "AION_MCP_REPLICAS"

// Replicas is how many servers a test has when it does not say.
func Replicas() int {
	if os.Getenv(replicasVar) == "2" {
		return 2
	}
	return 1
}

// InTurn sends each request to another server than the one before: hosts are host:port.
func InTurn(hosts ...string) *http.Client { return &http.Client{Transport: &inTurn{hosts: hosts}} }

type inTurn struct {
	hosts []string
	n     atomic.Int64
	next  http.Transport
}

func (i *inTurn) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = i.hosts[int(i.n.Add(1))%len(i.hosts)]
	return i.next.RoundTrip(r)
}

// CloseIdleConnections is what http.Client passes on.
func (i *inTurn) CloseIdleConnections() { i.next.CloseIdleConnections() }

// AgainOverTwoServers runs every test of the calling test binary once more, against two servers in turn.
func AgainOverTwoServers(t *testing.T) {
	t.Helper()
	if os.Getenv(replicasVar) != "" {
		t.Skip("this is that run")
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.count=1", "-test.timeout=10m")
	again.Env = append(os.Environ(), replicasVar+"=2")
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("over two servers: %v\n%s", err, out)
	}
}
