package gormstore_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"aion/domain/history"
)

func TestKillKeepsWhatWasAcknowledged(t *testing.T) { // engine 21
	t.Parallel()
	for i := range 6 {
		t.Run(fmt.Sprint("kill ", i), func(t *testing.T) {
			t.Parallel()
			killOnce(t)
		})
	}
}

func killOnce(t *testing.T) {
	t.Helper()
	o := options(t)
	cmd := process(t, "append", o.Path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := make([]history.Seq, 8)
	lines := bufio.NewScanner(out)
	limit := 8 + rand.IntN(1500)
	for n := 0; lines.Scan(); n++ {
		var w int
		var head history.Seq
		if _, err := fmt.Sscan(lines.Text(), &w, &head); err != nil {
			t.Fatal(err)
		}
		acknowledged[w] = head
		if n == limit {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()

	s := mustOpen(t, o)
	for i, c := range chains(8) {
		head, err := s.Head(t.Context(), c.id)
		if err != nil {
			t.Fatal(err)
		}
		// The last group may be durable though its acknowledgement did not get out: whole, or not at all.
		one := history.Seq(4)
		if head < acknowledged[i] || head > acknowledged[i]+3*one || (head-3)%one != 0 || acknowledged[i] > 0 && (head-acknowledged[i])%(3*one) != 0 {
			t.Errorf("workflow %d: head %d after acknowledged %d", i, head, acknowledged[i])
		}
		events, err := s.History(t.Context(), c.id, 1, int(head)+10)
		if err != nil || history.Seq(len(events)) != head {
			t.Fatalf("workflow %d: %d events, %v, head %d", i, len(events), err, head)
		}
		for c.head < head {
			for _, want := range c.next().Events {
				got := events[want.Seq-1]
				if got.Seq != want.Seq || got.Type != want.Type || string(got.Data) != string(want.Data) {
					t.Fatalf("workflow %d: event %+v, want %+v", i, got, want)
				}
			}
		}
		tasks, err := s.Open(t.Context(), c.id)
		if err != nil || len(tasks) != 1 || tasks[0].Key.ActivityID != c.n {
			t.Errorf("workflow %d: tasks %+v, %v; want the one of activity %d", i, tasks, err, c.n)
		}
	}
}

func TestFullDiskRefusesTheGroupAndRecovers(t *testing.T) { // engine 21
	t.Parallel()
	out, err := process(t, "full", options(t).Path).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 9 {
		t.Fatalf("the process said %q", lines)
	}
	for i, want := range []string{
		"<nil>", "unavailable (StoreReadOnly)", "unavailable (StoreReadOnly)", "unavailable (StoreReadOnly)",
		"unavailable (StoreReadOnly)", "head 3 <nil>", "head 0 <nil>", "<nil>", "<nil>",
	} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
	}
}
