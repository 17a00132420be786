package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// rawConn is one HTTP/1.1 connection that is kept open. It knows what an answer of a loopback server needs and no more, so
// that the client takes little of the processors that it shares with the server.
type rawConn struct {
	conn net.Conn
	in   *bufio.Reader
	body bytes.Buffer // of the last answer
}

func dial(url string) (*rawConn, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return nil, err
	}
	return &rawConn{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// rawRequest is the text of one MCP request, made once.
func rawRequest(url, method, tool, arguments string) []byte {
	params, name := meta, ""
	if tool != "" {
		params = fmt.Sprintf(`"name":%q,"arguments":%s,%s`, tool, arguments, meta)
		name = "Mcp-Name: " + tool + "\r\n"
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
	return fmt.Appendf(nil, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n%sContent-Length: %d\r\n\r\n%s",
		strings.TrimPrefix(url, "http://"), method, name, len(body), body)
}

// exchange sends a request and reads the answer into the body.
func (c *rawConn) exchange(request []byte) error {
	if _, err := c.conn.Write(request); err != nil {
		return err
	}
	status, err := c.line()
	if err != nil {
		return err
	}
	length, chunked := 0, false
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		switch textproto.CanonicalMIMEHeaderKey(name) {
		case "Content-Length":
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return err
			}
		case "Transfer-Encoding":
			chunked = true
		}
	}
	c.body.Reset()
	if chunked {
		err = c.chunks()
	} else {
		_, err = io.CopyN(&c.body, c.in, int64(length))
	}
	if err == nil && (!strings.Contains(status, " 200 ") || !bytes.Contains(c.body.Bytes(), []byte(`"result"`))) {
		err = fmt.Errorf("%s: %s", status, c.body.Bytes())
	}
	return err
}

func (c *rawConn) line() (string, error) {
	line, err := c.in.ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err
}

func (c *rawConn) chunks() error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(line, 16, 32)
		if err != nil {
			return err
		}
		if _, err := io.CopyN(&c.body, c.in, n); err != nil {
			return err
		}
		if _, err := c.line(); err != nil || n == 0 {
			return err
		}
	}
}

// press sends one request again and again over so many connections for a time.
func press(ctx context.Context, url string, request []byte, connections int, limit time.Duration) (perSecond float64, each []float64, err error) {
	var wait sync.WaitGroup
	var failed atomic.Pointer[error]
	took := make([][]float64, connections)
	began := time.Now()
	for i := range connections {
		wait.Go(func() {
			c, err := dial(url)
			if err != nil {
				failed.Store(&err)
				return
			}
			defer func() { _ = c.conn.Close() }()
			for at := time.Now(); at.Sub(began) < limit && ctx.Err() == nil; {
				if err := c.exchange(request); err != nil {
					failed.Store(&err)
					return
				}
				now := time.Now()
				took[i] = append(took[i], micros(now.Sub(at)))
				at = now
			}
		})
	}
	wait.Wait()
	if err := failed.Load(); err != nil {
		return 0, nil, *err
	}
	for _, list := range took {
		each = append(each, list...)
	}
	return float64(len(each)) / time.Since(began).Seconds(), each, nil
}
