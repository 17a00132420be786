package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"aion/adapters/cli/client"
	"aion/domain/history"
)

// longPoll is what one request for an outcome waits.
const longPoll = 20_000 // milliseconds

// bounded ends what waits for a run when --timeout has passed: the run goes on.
func (s *session) bounded(ctx context.Context, wait func(context.Context) error) error {
	if s.timeout == 0 {
		return wait(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, errFollowTimeout)
	defer cancel()
	err := wait(ctx)
	if errors.Is(err, errFollowTimeout) {
		fmt.Fprintf(s.p.Err, "stopped waiting after %s; the run goes on\n", s.timeout)
		return status(exitTimeout)
	}
	return err
}

// persist reads a stream to its end, whatever connections that takes; next is its position.
func (s *session) persist(ctx context.Context, next *int64, read func(context.Context) error) error {
	return s.bounded(ctx, func(ctx context.Context) error {
		return persist(ctx, func() int64 { return *next }, func() error { return read(ctx) })
	})
}

// awaitOutcome waits for the end of the chain and prints the outcome.
func (s *session) awaitOutcome(ctx context.Context, id string) error {
	answers := int64(0)
	return persist(ctx, func() int64 { return answers }, func() error {
		for ; ; answers++ {
			answer, err := s.Do(ctx, client.Request{Path: s.run(id, "/outcome"), Query: queryOf("wait_ms", strconv.Itoa(longPoll)), Patience: defaultPatience})
			if err != nil {
				return lost(err)
			}
			if answer.Status == http.StatusOK {
				return s.printOutcome(answer.Body)
			}
		}
	})
}

// printOutcome prints an outcome and answers the exit code of its route.
func (s *session) printOutcome(answer []byte) error {
	ended, err := statusOf(answer)
	if err != nil {
		return err
	}
	err = s.show(answer, []string{"workflow_id"}, func(object) error { return printRaw(s.p.Out, answer) })
	if err == nil && ended != history.Completed {
		return status(exitNo)
	}
	return err
}

// toTheEnd follows a run with the view, and prints its outcome.
func (s *session) toTheEnd(ctx context.Context, v *view, r begun) error {
	err := persist(ctx, v.at, func() error {
		if err := v.follow(ctx, s, r); err != nil {
			return err
		}
		_, _, err := s.outcome(ctx, r.id)
		return err
	})
	if err != nil {
		return err
	}
	return s.awaitOutcome(ctx, r.id)
}

func newOutcomeCommand(p *Program, g *globals) *cobra.Command {
	var wait bool
	var run string
	cmd := &cobra.Command{
		Use:     "outcome ID",
		Short:   "print how a run ended; exit 1 unless it took a success route",
		Example: "  aion outcome 019a3c1e-4f2a --wait",
		Args:    arguments(1, 1, "the id of a run, or a prefix of 8 or more characters"),
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the end")
	cmd.Flags().StringVar(&run, "run", "", "the id of one generation (default: the newest)")
	return asks(p, g, cmd, func(ctx context.Context, s *session, args []string) error {
		id, err := s.workflow(ctx, args[0])
		if err != nil {
			return err
		}
		if wait && run == "" {
			return s.bounded(ctx, func(ctx context.Context) error { return s.awaitOutcome(ctx, id) })
		}
		answer, err := s.Do(ctx, client.Request{Path: s.run(id, "/outcome"), Query: generation(run)})
		if err != nil {
			return err
		}
		if answer.Status != http.StatusOK {
			o, err := parseObject(answer.Body)
			if err != nil {
				return err
			}
			return &usage{message: "run " + short(id) + " has not ended: it is " + o.text("status"), hint: "aion outcome " + short(id) + " --wait waits for the end"}
		}
		return s.printOutcome(answer.Body)
	})
}
