package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// build makes the binary that child servers run, once.
func (b *bench) build(ctx context.Context) (string, error) {
	if b.program != "" {
		return b.program, nil
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	program := filepath.Join(b.dir, "aion")
	out, err := exec.CommandContext(ctx, "go", "build", "-C", root, "-o", program, "./cmd/aion").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	b.program = program
	return program, nil
}

// server is one `aion server` as a child process.
type server struct {
	cmd  *exec.Cmd
	url  string
	done chan struct{}
}

// serve starts a server on a free port and waits until it is ready.
func (b *bench) serve(ctx context.Context, home string) (*server, error) {
	program, err := b.build(ctx)
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.CommandContext(ctx, program, "server", "--listen", "127.0.0.1:0"), done: make(chan struct{})}
	s.cmd.Env = []string{"AION_HOME=" + home, "HOME=" + filepath.Dir(home), "PATH=" + os.Getenv("PATH")}
	s.cmd.Dir = b.dir
	log, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	listening := make(chan string, 1)
	said := &bytes.Buffer{} // read after done only
	go func() {
		defer close(s.done)
		s.drain(log, said, listening)
		_ = s.cmd.Wait() // how it ended is for its caller to say
	}()
	select {
	case s.url = <-listening:
	case <-s.done:
		return nil, fmt.Errorf("the server ended at its start:\n%s", said)
	}
	return s, s.ready(ctx)
}

// drain reads the log of the server to its end and finds the address in it.
func (s *server) drain(log io.Reader, said *bytes.Buffer, listening chan<- string) {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if said.Len() < 1<<16 {
			said.Write(append(lines.Bytes(), '\n'))
		}
		var record struct{ URL string }
		if json.Unmarshal(lines.Bytes(), &record) == nil && record.URL != "" {
			select {
			case listening <- record.URL:
			default:
			}
		}
	}
}

// ready asks until the server says that it is ready.
func (s *server) ready(ctx context.Context) error {
	for ctx.Err() == nil {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/health/ready", http.NoBody)
		if err != nil {
			return err
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(time.Millisecond)
	}
	return context.Cause(ctx)
}

// kill is kill -9, and waits until the process is gone.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}
