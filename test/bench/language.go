package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aion/domain/awl"
	"aion/domain/awl/syntax"
)

// language measures the checker beside the parser, which reads the same text.
func (b *bench) language(ctx context.Context) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	known, err := os.ReadFile(filepath.Join(root, "domain", "awl", "testdata", "valid", "agent_dev_loop.awl"))
	if err != nil {
		return err
	}
	check, parse, err := b.perLine(ctx, known)
	if err != nil {
		return err
	}
	b.out.figure("agent_dev_loop.awl, check and parse", "%.2f and %.2f us per line", check, parse)
	var first, last float64
	sizes := []int{1250, 2500, 5000, 10_000}
	for i, lines := range sizes {
		text := generated(lines)
		if r := awl.Check(text, awl.Options{}); !r.DeploysGreen {
			return r.Refusal(fmt.Sprintf("the generated document of %d lines", lines))
		}
		check, parse, err := b.perLine(ctx, text)
		if err != nil {
			return err
		}
		b.out.figure(fmt.Sprintf("generated document of %d lines, check and parse", lines), "%.2f and %.2f us per line", check, parse)
		if i == 0 {
			first = check
		}
		last = check
	}
	// n log n: the time per line grows with the logarithm of the lines, by 1.3 from 1,250 to 10,000.
	b.out.atMost("check: time per line, 10000 lines against 1250", last/first, 1.3, "x")
	return nil
}

// perLine gives the medians of check and parse in microseconds per line.
func (b *bench) perLine(ctx context.Context, text []byte) (check, parse float64, err error) {
	lines := float64(bytes.Count(text, []byte("\n")))
	var checks, parses []float64
	for range max(b.pick(15, 3), int(float64(b.pick(20_000, 2000))/lines)) {
		if ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		began := time.Now()
		awl.Check(text, awl.Options{})
		checked := time.Now()
		syntax.Parse(text)
		checks, parses = append(checks, micros(checked.Sub(began))/lines), append(parses, micros(time.Since(checked))/lines)
	}
	return median(checks), median(parses), nil
}

// generated writes a document of about so many lines: actions with retry, and steps that call, pipe, choose and route.
func generated(lines int) []byte {
	const perStep, perAction = 18, 4
	n := lines / (perStep + perAction)
	var t strings.Builder
	t.WriteString("//! A long document.\nworkflow generated\n  input name: String\n  outcome done: type Done, route success\n" +
		"  outcome empty: type Empty, route failure\n\ntype Done { text: String, count: Int }\ntype Empty { reason: String }\n\nworker bench\n")
	for i := range n {
		fmt.Fprintf(&t, "  /// What step %d does.\n  action act_%d(text: String, times: Int) -> [String]\n    timeout 10s, retry 3 backoff 1s..1m\n"+
			"    run \"printf {{text}} {{times}}\" capture lines\n", i, i)
	}
	for i := range n {
		fmt.Fprintf(&t, "\n/// Step %d of many.\nstep step_%d\n", i, i)
		for j := range 4 {
			fmt.Fprintf(&t, "  act_%d(text: name, times: %d) -> lines_%d_%d\n  lines_%d_%d |> count -> count_%d_%d\n", i, j, i, j, i, j, i, j)
		}
		fmt.Fprintf(&t, "  lines_%d_0 + lines_%d_1 |> count -> sum_%d\n\n", i, i, i)
		target := fmt.Sprintf("step_%d", i+1)
		if i == n-1 {
			target = fmt.Sprintf("done(text: name, count: sum_%d)", i)
		}
		fmt.Fprintf(&t, "  outcome nothing_%d: when sum_%d == 0 and count_%d_3 == 0,\n    route empty(reason: \"step %d found nothing\")\n"+
			"  outcome more_%d: otherwise,\n    route %s\n", i, i, i, i, i, target)
	}
	return []byte(t.String())
}

// moduleRoot finds the checkout that the bench runs in.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		text, readErr := os.ReadFile(filepath.Join(dir, "go.mod"))
		if readErr == nil && bytes.HasPrefix(text, []byte("module aion\n")) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("run the bench inside the checkout: go run ./test/bench")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}
