package cli_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
)

// server 3.1: long output goes through the user's pager on a terminal, and nowhere else; what is refused is not paged.
func TestLongOutputIsPagedOnATerminalOnly(t *testing.T) {
	t.Parallel()
	answers := map[string]string{"GET /namespaces/default/runs/" + idOne + "/history?from_seq=1&limit=1": `{"events":[{"seq":1,"type":"WorkflowStarted","data":{}}],"next_from_seq":2}`}
	f := newFakeServer(t, answers)
	for what, c := range map[string]struct {
		args     []string
		terminal bool
		paged    bool
	}{
		"the guide":     {[]string{"awl", "guide"}, true, true},
		"a history":     {[]string{"history", idOne, "--limit", "1", "--server", f.url}, true, true},
		"in a pipe":     {[]string{"awl", "guide"}, false, false},
		"not wanted":    {[]string{"awl", "guide", "--no-pager"}, true, false},
		"what is short": {[]string{"version"}, true, false},
		"a refusal":     {[]string{"awl", "guide", "nonsense-word"}, true, false},
	} {
		d, started, waited := newDesk(t), 0, 0
		var read strings.Builder
		d.terminal = c.terminal
		d.pager = func(context.Context) (io.Writer, func(), error) {
			started++
			return &read, func() { waited++ }, nil
		}
		out, _, _ := d.run(c.args...)
		if c.paged != (started == 1) || started != waited || c.paged && (out != "" || read.Len() == 0) {
			t.Errorf("%s: started %d, ended %d, beside it %q", what, started, waited, out)
		}
	}
}

// A pager that its user leaves ends the command quietly; one that does not start costs a warning, and no output.
func TestAPagerThatEndsOrDoesNotStart(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.terminal = true
	d.pager = func(context.Context) (io.Writer, func(), error) { return left{}, func() {}, nil }
	if _, errs, code := d.run("awl", "guide", "--card"); code != 0 || errs != "" {
		t.Errorf("left: %d %q", code, errs)
	}
	d.pager = func(context.Context) (io.Writer, func(), error) { return nil, nil, errors.New("no such program") }
	if out, errs, code := d.run("awl", "guide", "--card"); code != 0 || !strings.Contains(errs, "the pager does not start: no such program") || out == "" {
		t.Errorf("not started: %d %q", code, errs)
	}
}

type left struct{}

func (left) Write([]byte) (int, error) { return 0, syscall.EPIPE }
