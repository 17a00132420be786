package gormstore_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"aion/adapters/gormstore"
	"aion/domain/history"
	"aion/test/fake"
)

// role makes the test binary another process that works on a store: `<role> <path>`.
const roleVariable = "AION_STORE_TEST_ROLE"

func TestMain(m *testing.M) {
	role, path, ok := strings.Cut(os.Getenv(roleVariable), " ")
	if !ok {
		goleak.VerifyTestMain(m)
		return
	}
	s, err := gormstore.Open(context.Background(), gormstore.Options{Path: path, Clock: fake.NewClock(time.Time{})})
	if err != nil {
		fmt.Println("refused:", err)
		os.Exit(3)
	}
	switch role {
	case "own":
		own(s)
	case "append":
		appendForEver(s)
	case "full":
		fillUp(s, path)
	}
	os.Exit(0)
}

// own holds the store until the other end of stdin closes.
func own(s *gormstore.Store) {
	if err := s.SetAddress("127.0.0.1:1"); err != nil {
		panic(err)
	}
	fmt.Println("owner")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	if err := s.Close(); err != nil {
		panic(err)
	}
}

// appendForEver appends groups to 8 workflows and says what was acknowledged: `<workflow> <head>`.
func appendForEver(s *gormstore.Store) {
	cs := chains(8)
	for {
		group := make([]history.Commit, 0, 24)
		for range 3 {
			for _, c := range cs {
				group = append(group, c.next())
			}
		}
		for _, err := range s.Append(context.Background(), group) {
			if err != nil {
				panic(err)
			}
		}
		var said strings.Builder
		for i, c := range cs {
			fmt.Fprintf(&said, "%d %d\n", i, c.head)
		}
		if _, err := os.Stdout.WriteString(said.String()); err != nil {
			return
		}
	}
}

// fillUp appends while the system lets no file grow, then again without that limit.
func fillUp(s *gormstore.Store, path string) {
	signal.Ignore(syscall.SIGXFSZ)
	cs := chains(2)
	ctx := context.Background()
	say := func(errs []error) {
		for _, err := range errs {
			fmt.Println(err)
		}
	}
	say(s.Append(ctx, []history.Commit{cs[0].next()}))
	info, err := os.Stat(path + "-wal")
	if err != nil {
		panic(err)
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		panic(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(info.Size()), Max: before.Max}); err != nil {
		panic(err)
	}
	first, second := cs[0].next(), cs[1].next()
	say(s.Append(ctx, []history.Commit{first, second}))
	say(s.Append(ctx, []history.Commit{first, second}))
	for _, c := range cs {
		head, err := s.Head(ctx, c.id)
		fmt.Println("head", head, err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		panic(err)
	}
	say(s.Append(ctx, []history.Commit{first, second}))
	if err := s.Close(); err != nil {
		panic(err)
	}
}

// process starts the test binary in a role.
func process(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role+" "+path)
	cmd.Stderr = os.Stderr
	return cmd
}
