package callers_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// mcp 84, mcp 89: a refusal that comes before the body reaches its client, whatever the client has still to send.
func TestEarlyRefusalReachesItsClient(t *testing.T) {
	t.Parallel()
	w := openJWKS(t, nil)
	var senders sync.WaitGroup
	for _, size := range []int{0, 300, 5 << 10, 200 << 10, 300 << 10, 2 << 20} {
		senders.Go(func() {
			for range 30 {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL, bytes.NewReader(make([]byte, size)))
				if err != nil {
					t.Error(err)
					return
				}
				res, err := w.HTTP.Do(req)
				if err != nil {
					t.Errorf("%d bytes: %v", size, err)
					continue
				}
				text, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if err != nil || res.StatusCode != http.StatusUnauthorized || !bytes.Contains(text, []byte("MissingCredential")) {
					t.Errorf("%d bytes: %d, %v: %s", size, res.StatusCode, err, text)
				}
			}
		})
	}
	senders.Wait()
}

// What follows a refused head on its connection is never taken for another request.
func TestBodyOfARefusedRequestIsNoRequest(t *testing.T) {
	t.Parallel()
	w := openOff(t)
	const smuggled = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for what, head := range map[string]string{"a length": "Content-Length: 4000\r\n", "chunks": "Transfer-Encoding: chunked\r\n"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer aion_as_x\r\nContent-Type: application/json\r\n"+head+"\r\n")
		if err != nil {
			t.Fatal(err)
		}
		answers := bufio.NewReader(conn)
		res, err := http.ReadResponse(answers, nil)
		if err != nil || res.StatusCode != http.StatusUnauthorized || !res.Close {
			t.Fatalf("%s: %v, %v", what, res, err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || !bytes.Contains(text, []byte("InvalidCredential")) {
			t.Errorf("%s: %s, %v", what, text, err)
		}
		_, _ = io.WriteString(conn, smuggled) // the server may have left already
		_ = conn.(*net.TCPConn).CloseWrite()
		if rest, _ := io.ReadAll(answers); len(rest) > 0 {
			t.Errorf("%s: the body is answered: %s", what, rest)
		}
		_ = conn.Close()
	}
}
