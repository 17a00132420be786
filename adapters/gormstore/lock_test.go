package gormstore_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"aion/adapters/gormstore"
	"aion/domain"
)

func wantRefusal(t testing.TB, err error, code domain.Code, typ string, words ...string) {
	t.Helper()
	e, ok := err.(*domain.Error) //nolint:errorlint // the refusal itself is wanted
	if !ok || e.Code != code || e.Type != typ {
		t.Errorf("got %v, want a refusal %s of type %s", err, code, typ)
		return
	}
	for _, w := range words {
		if !strings.Contains(e.Message, w) {
			t.Errorf("the refusal %q does not contain %q", e.Message, w)
		}
	}
}

func TestSecondOwnerIsRefusedByName(t *testing.T) { // report 4
	t.Parallel()
	o := options(t)
	s := mustOpen(t, o)
	pid := fmt.Sprint(os.Getpid())
	_, err := gormstore.Open(t.Context(), o)
	wantRefusal(t, err, domain.CodeStoreLocked, "StoreLocked", "process "+pid, o.Path)

	if err := s.SetAddress("unix:/somewhere/run.sock"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetAddress("127.0.0.1:8080"); err != nil { // shorter than the one before
		t.Fatal(err)
	}
	_, err = gormstore.Open(t.Context(), o)
	wantRefusal(t, err, domain.CodeStoreLocked, "StoreLocked", "process "+pid+" at 127.0.0.1:8080")

	owner, held, err := gormstore.FindOwner(o.Path)
	if err != nil || !held || owner.PID != os.Getpid() || owner.Address != "127.0.0.1:8080" || !owner.StartedAt.Equal(o.Clock.Now()) {
		t.Errorf("owner %+v, held %v, %v", owner, held, err)
	}
}

func TestOwnerOfAnotherProcessIsFoundUntilItDies(t *testing.T) {
	t.Parallel()
	o := options(t)
	if _, held, err := gormstore.FindOwner(o.Path); held || err != nil {
		t.Errorf("a store that never was is held: %v, %v", held, err)
	}
	cmd := process(t, "own", o.Path)
	if _, err := cmd.StdinPipe(); err != nil { // stays open: the process waits for its end
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "owner\n" {
		t.Fatal(line, err)
	}
	owner, held, err := gormstore.FindOwner(o.Path)
	if err != nil || !held || owner.PID != cmd.Process.Pid || owner.Address != "127.0.0.1:1" {
		t.Errorf("owner %+v, held %v, %v; the process is %d", owner, held, err, cmd.Process.Pid)
	}
	_, err = gormstore.Open(t.Context(), o)
	wantRefusal(t, err, domain.CodeStoreLocked, "StoreLocked", fmt.Sprintf("process %d at 127.0.0.1:1", cmd.Process.Pid))

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if _, held, err := gormstore.FindOwner(o.Path); held || err != nil {
		t.Errorf("the dead owner holds the store: %v, %v", held, err)
	}
	mustOpen(t, o)
}

func TestManyOpenAFreshFileTogether(t *testing.T) { // report 4
	t.Parallel()
	const handles, processes = 10, 10
	o := options(t)
	var wg sync.WaitGroup
	refusals := make(chan error, handles)
	stores := make(chan *gormstore.Store, handles)
	said := make(chan string, processes)
	owners := make(chan func(), processes)
	for range handles {
		wg.Go(func() {
			s, err := gormstore.Open(t.Context(), o)
			if err != nil {
				refusals <- err
				return
			}
			stores <- s
		})
	}
	for range processes {
		cmd := process(t, "own", o.Path)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			line, _ := bufio.NewReader(out).ReadString('\n')
			said <- line
			if line == "owner\n" {
				owners <- func() { _ = in.Close(); _ = cmd.Wait() }
				return
			}
			_ = cmd.Wait()
		})
	}
	wg.Wait()
	close(refusals)
	close(stores)
	close(said)
	close(owners)
	won := 0
	for err := range refusals {
		wantRefusal(t, err, domain.CodeStoreLocked, "StoreLocked", "process ")
	}
	for s := range stores {
		won++
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for line := range said {
		if line == "owner\n" {
			won++
		} else if !strings.Contains(line, "store_locked") || !strings.Contains(line, "process ") {
			t.Errorf("a process said %q", line)
		}
	}
	for end := range owners {
		end()
	}
	if won != 1 {
		t.Errorf("%d owners of one store", won)
	}
	mustOpen(t, o)
}

func TestClosedStoreRefusesAndMayBeClosedAgain(t *testing.T) {
	t.Parallel()
	o := options(t)
	s, err := gormstore.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c := chains(1)[0]
	wantRefusal(t, s.Append(t.Context(), oneCommit(c))[0], domain.CodeUnavailable, "StoreUnavailable", "closed")
	_, err = s.Head(t.Context(), c.id)
	wantRefusal(t, err, domain.CodeUnavailable, "StoreUnavailable", "closed")
	_, err = s.Runs(t.Context(), c.id)
	wantRefusal(t, err, domain.CodeUnavailable, "StoreUnavailable", "closed")
	wantRefusal(t, s.SetAddress("x"), domain.CodeUnavailable, "StoreUnavailable", "closed")
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(o.Path + suffix); !os.IsNotExist(err) {
			t.Errorf("a cleanly closed store leaves %s: %v", suffix, err)
		}
	}
	if mark, err := os.ReadFile(o.Path + ".lock"); err != nil || len(mark) != 0 { // else the next start would read the whole file
		t.Errorf("a cleanly closed store leaves the mark %q, %v", mark, err)
	}
}
