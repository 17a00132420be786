// Command with runs a command beside a Postgres that its tests find in AION_TEST_POSTGRES, and ends it with the command:
//
//	go run ./test/postgres/with go test ./...
//
// When the variable is set already, that server serves.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"aion/test/postgres"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: with COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // a Ctrl-C ends the command, and that ends us
	code := 1
	run := func(dsn string) { code = command(dsn) }
	if dsn := os.Getenv(postgres.Variable); dsn != "" {
		run(dsn)
	} else if err := postgres.With(nil, run); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// command runs our arguments and answers their exit code.
func command(dsn string) int {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Env = append(os.Environ(), postgres.Variable+"="+dsn)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}
