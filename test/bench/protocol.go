package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// target is one kind of request to one server.
type target struct {
	name    string
	pid     int
	url     string
	request []byte
}

// pressed is what came of a target at one number of connections, a value per round.
type pressed struct {
	rates, busy []float64
	each        []float64
}

// protocol holds requests to /mcp against servers of one trivial tool, all as child processes, in turns.
func (b *bench) protocol(ctx context.Context) error {
	targets, stop, err := b.targets(ctx)
	defer stop()
	if err != nil {
		return err
	}
	for _, connections := range []int{1, 32} {
		all, err := b.pressAll(ctx, targets, connections)
		if err != nil {
			return err
		}
		for _, t := range targets {
			p := all[t.name]
			b.out.figure(fmt.Sprintf("%s, %d connections", t.name, connections), "%.0f/s, p50 %.0f us, p99 %.0f us, server %.0f us of processor each",
				median(p.rates), quantile(p.each, 0.5), quantile(p.each, 0.99), median(p.busy))
		}
		if connections == 32 {
			lists := max(median(all["tools/list of the Go SDK"].rates), median(all["tools/list of mcp-go"].rates))
			b.out.atLeast("tools/list / tools/list of the faster peer, 32 connections", median(all["aion tools/list"].rates)/lists, 1, "x")
			calls := max(median(all["tools/call of the Go SDK"].rates), median(all["tools/call of mcp-go"].rates))
			b.out.atLeast("describe_run / trivial tool of the faster peer, 32", median(all["aion describe_run"].rates)/calls, 0.5, "x")
		}
	}
	return nil
}

// pressAll presses every target once per round.
func (b *bench) pressAll(ctx context.Context, targets []target, connections int) (map[string]*pressed, error) {
	all := map[string]*pressed{}
	for range b.pick(5, 1) {
		for _, t := range targets {
			p := all[t.name]
			if p == nil {
				p = &pressed{}
				all[t.name] = p
			}
			before, err := busyOf(t.pid)
			if err != nil {
				return nil, err
			}
			rate, each, err := press(ctx, t.url, t.request, connections, time.Duration(b.pick(1000, 200))*time.Millisecond)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.name, err)
			}
			after, err := busyOf(t.pid)
			if err != nil {
				return nil, err
			}
			p.rates, p.each = append(p.rates, rate), append(p.each, each...)
			p.busy = append(p.busy, micros(after-before)/float64(len(each)))
		}
	}
	return all, nil
}

// targets starts the servers. stop ends them, also after an error.
func (b *bench) targets(ctx context.Context) (list []target, stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	s, err := b.serve(ctx, b.place("home"))
	if err != nil {
		return nil, stop, err
	}
	stops = append(stops, s.kill)
	id, err := b.furnish(ctx, s)
	if err != nil {
		return nil, stop, err
	}
	add := func(name string, pid int, url, method, tool, arguments string) {
		list = append(list, target{name, pid, url, rawRequest(url, method, tool, arguments)})
	}
	pid := s.cmd.Process.Pid
	add("aion tools/list", pid, s.url, "tools/list", "", "")
	add("aion describe_run", pid, s.url, "tools/call", "describe_run", fmt.Sprintf(`{"namespace":"default","workflow_id":%q}`, id))
	add("aion list_runs", pid, s.url, "tools/call", "list_runs", `{"namespace":"default"}`)
	peers, err := b.buildPeers(ctx)
	if err != nil {
		return nil, stop, err
	}
	for _, peer := range []struct{ kind, name string }{{"sdk", "the Go SDK"}, {"mcp-go", "mcp-go"}, {"echo", "bare net/http and JSON"}} {
		cmd, url, err := startPeer(ctx, peers, peer.kind)
		if err != nil {
			return nil, stop, err
		}
		stops = append(stops, func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		if peer.kind != "echo" {
			add("tools/list of "+peer.name, cmd.Process.Pid, url, "tools/list", "", "")
		}
		add("tools/call of "+peer.name, cmd.Process.Pid, url, "tools/call", "say", `{"text":"hello"}`)
	}
	return list, stop, nil
}

// furnish gives the server something to show: a page of runs, the last of them completed.
func (b *bench) furnish(ctx context.Context, s *server) (id string, err error) {
	c := newClient(s.url, 1)
	defer c.close()
	if err := c.deploy(ctx, "one_step"); err != nil {
		return "", err
	}
	for n := range 60 {
		if id, err = c.start(ctx, "one_step", n); err != nil {
			return "", err
		}
	}
	err = until(ctx, func() bool {
		status, statusErr := c.status(ctx, id)
		return statusErr != nil || status == "Completed"
	})
	return id, err
}

// buildPeers builds the servers of the module next to this one.
func (b *bench) buildPeers(ctx context.Context) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	program := filepath.Join(b.dir, "peers")
	out, err := exec.CommandContext(ctx, "go", "build", "-C", filepath.Join(root, "test", "bench", "peers"), "-o", program, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build of the peers: %w\n%s", err, out)
	}
	return program, nil
}

func startPeer(ctx context.Context, program, kind string) (*exec.Cmd, string, error) {
	cmd := exec.CommandContext(ctx, program, "-kind", kind)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	return cmd, strings.TrimSpace(url), err
}

// busyOf is the processor time that a process has used.
func busyOf(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	rest := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var user, system int64
	if len(rest) < 13 {
		return 0, fmt.Errorf("the times of process %d cannot be read", pid)
	}
	if _, err := fmt.Sscan(rest[11]+" "+rest[12], &user, &system); err != nil {
		return 0, err
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux
	return time.Duration(user+system) * tick, nil
}
