package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"aion/application/authoring"
	"aion/application/runs"
	"aion/bootstrap"
	"aion/domain"
	"aion/domain/access"
	"aion/domain/action"
	"aion/domain/history"
	"aion/ports"
)

//go:embed documents/*.awl
var documents embed.FS

// world is an engine with its store in this process.
type world struct {
	app *bootstrap.App
	who access.Caller
}

// open starts an engine at its defaults over a new SQLite store. A nil executor runs real commands.
func (b *bench) open(ctx context.Context, executor ports.Executor, tune func(*bootstrap.Config)) (*world, error) {
	c, err := bootstrap.Defaults(b.place("home"))
	if err != nil {
		return nil, err
	}
	if tune != nil {
		tune(&c)
	}
	app, err := bootstrap.New(ctx, c, bootstrap.Parts{Executor: executor, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if err := app.Start(ctx); err != nil {
		return nil, errors.Join(err, app.Close(ctx, 0))
	}
	return &world{app: app, who: access.Operator("bench")}, nil
}

func (w *world) close() { _ = w.app.Close(context.Background(), 10*time.Second) }

// document is the text of one of the bench's own documents.
func document(name string) []byte {
	text, err := documents.ReadFile("documents/" + name + ".awl")
	if err != nil {
		panic(err)
	}
	return text
}

// deploy deploys one of the bench's documents; its type has the same name.
func (w *world) deploy(ctx context.Context, name string) error {
	return w.deploySource(ctx, name, document(name))
}

func (w *world) deploySource(ctx context.Context, name string, source []byte) error {
	_, err := w.app.Authoring.DeploySource(ctx, w.who, authoring.SourceRequest{Name: name + ".awl", Source: source})
	return err
}

// start starts a run with `{"n": n}`.
func (w *world) start(ctx context.Context, workflowType string, n int) (domain.WorkflowID, error) {
	started, err := w.app.Runs.Start(ctx, w.who, runs.StartRequest{
		Namespace: "default", WorkflowType: workflowType, Input: fmt.Appendf(nil, `{"n":%d}`, n),
	})
	return started.Run.WorkflowID, err
}

// follow waits for the end of a run and gives its last event.
func (w *world) follow(ctx context.Context, id domain.WorkflowID) (last history.Recorded, err error) {
	err = w.app.Runs.Follow(ctx, w.who, runs.HistoryRequest{Namespace: "default", WorkflowID: string(id)}, func(r history.Recorded) error {
		last = r
		return nil
	})
	return last, err
}

// idle waits until no run is open, and refuses a run that did not complete.
func (w *world) idle(ctx context.Context) error {
	for pause := 100 * time.Microsecond; ; pause = min(pause*5/4, 10*time.Millisecond) {
		open, err := w.some(ctx, history.Running)
		if err != nil {
			return err
		}
		if open == 0 {
			break
		}
		time.Sleep(pause) // little enough for short waits, and no load on long ones
	}
	for _, wrong := range []history.Status{history.Failed, history.Paused, history.TimedOut} {
		n, err := w.some(ctx, wrong)
		if err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("a run is %s", wrong)
		}
	}
	return nil
}

// some is 0 or 1: whether a run has the status.
func (w *world) some(ctx context.Context, status history.Status) (int, error) {
	page, err := w.app.Runs.List(ctx, w.who, runs.ListRequest{Namespace: "default", Statuses: []history.Status{status}, Limit: 1})
	return len(page.Runs), err
}

// nothing is an executor whose every attempt completes at once. The input of an action named last is given to ended.
type nothing struct {
	last  string
	ended func(input json.RawMessage)
}

// Execute implements ports.Executor.
func (x nothing) Execute(_ context.Context, e ports.Execution, _ ports.TranscriptWriter) action.Verdict {
	if e.Dispatch.Name == x.last {
		x.ended(e.Dispatch.Input)
	}
	return action.Completed{Result: json.RawMessage(`"ok"`)}
}
