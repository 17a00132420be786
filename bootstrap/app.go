package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"aion/adapters/auth"
	"aion/adapters/gormstore"
	"aion/adapters/httpapi"
	"aion/adapters/memory"
	"aion/adapters/metrics"
	"aion/adapters/shell"
	"aion/adapters/system"
	"aion/adapters/workspace"
	"aion/application/actions"
	"aion/application/audit"
	"aion/application/authoring"
	"aion/application/deployments"
	"aion/application/engine"
	"aion/application/namespaces"
	"aion/application/queues"
	"aion/application/retention"
	"aion/application/runs"
	"aion/application/schedules"
	"aion/application/tasks"
	"aion/application/timers"
	"aion/application/transcripts"
	"aion/application/workers"
	"aion/domain"
	"aion/ports"
)

// store is every store port of one backend.
type store interface { //nolint:interfacebloat // it only joins ports
	ports.EventStore
	ports.RunIndex
	ports.ChangeLog
	ports.TaskStore
	ports.QueueStore
	ports.TimerStore
	ports.OutboxStore
	ports.TranscriptStore
	ports.DeploymentStore
	ports.RouteStore
	ports.NamespaceStore
	ports.MCPTaskStore
	ports.MCPTaskList
	ports.AuditLog
	ports.AuditRetention
	ports.ReplicaStore
	ports.RetentionStore
	ports.WorkerStore
	ports.LeaseStore
	ports.BacklogStore
	ports.ScheduleStore
	ports.ScheduleQueue
}

// App is one engine with everything that it runs on, built from the leaves up.
type App struct {
	Config      Config
	Runs        *runs.Service
	Authoring   *authoring.Service
	Transcripts *transcripts.Service
	Namespaces  *namespaces.Service

	log        *slog.Logger
	instance   string // names this process in task rows, in the audit log and among the servers of a store
	clock      ports.Clock
	ids        ports.IDs
	durable    *gormstore.Store // nil with the memory store
	others     others
	executor   *shell.Executor // nil when the caller brought one
	engine     *engine.Engine
	dispatcher *actions.Dispatcher
	wheel      *timers.Wheel
	bodies     *actions.Catalogue
	openBodies func() // lets the dispatcher look into the deployed versions
	couriers   *engine.Couriers
	tasks      *tasks.Service
	workers    *workers.Service
	schedules  *schedules.Service
	queues     *queues.Service
	keys       *auth.JWKS // of the token issuer; nil without a host, and but in mode jwks
	gate       *actions.Gate
	api        *httpapi.API
	live       live
	shown      shown
	registry   *metrics.Registry
	trail      *audit.Trail
	catalogue  *deployments.Service
	retention  *retention.Service
	alive      func() // called while the host is alive; nil: nobody asks
	counted    metrics.Process
	recovery   recovery

	// Lost is the number of attempts that an earlier server left running; set by Start.
	Lost int

	stops []func() error // what Start has begun, in that order
}

// Parts replaces what an App would make itself: the bench brings an executor of its own. Zero members are made.
type Parts struct {
	Executor ports.Executor
	Log      *slog.Logger
	Alive    func() // called about once a second while the process serves and is alive; it must not wait
}

// New opens the store and builds the rest; nothing runs until Start.
func New(ctx context.Context, c Config, parts Parts) (*App, error) {
	a := &App{Config: c, log: parts.Log, alive: parts.Alive, clock: system.Clock{}, ids: system.IDs{}, registry: metrics.New()}
	a.instance = a.ids.UUIDv7()
	if a.log == nil {
		a.log = logger(c, os.Stderr, slog.LevelDebug)
	}
	if err := makeHome(c.Home); err != nil {
		return nil, err
	}
	st, err := a.openStore(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.build(st, parts); err != nil { //nolint:contextcheck // what is built there outlives this call
		return nil, errors.Join(err, a.closeStore())
	}
	return a, nil
}

func (a *App) openStore(ctx context.Context) (store, error) {
	c := a.Config
	var st *gormstore.Store
	var err error
	switch c.StoreBackend {
	case backendMemory:
		return memory.New(a.clock), nil
	case backendPostgres:
		a.others.shared = true
		st, err = gormstore.OpenPostgres(ctx, a.postgresOptions())
	default:
		st, err = gormstore.Open(ctx, a.sqliteOptions())
	}
	if err != nil {
		return nil, err
	}
	a.durable, a.clock = st, st.Clock()
	return st, nil
}

func (a *App) build(st store, parts Parts) error {
	c := a.Config
	watch := system.NewWatch()
	run := parts.Executor
	if run == nil {
		x, err := a.newExecutor()
		if err != nil {
			return err
		}
		a.executor, run = x, x
	}
	documents, err := workspace.New(c.WorkspaceDir)
	if err != nil {
		return err
	}
	catalogue := deployments.New(deployments.Deps{Store: st, Routes: st, Index: st, Clock: a.clock})
	a.catalogue = catalogue
	bodies := actions.Bodies(c.ActionsDeclaredBodies)
	a.Namespaces = namespaces.New(namespaces.Deps{
		Store: st, Index: st, Clock: a.clock, Default: domain.Namespace(c.NamespaceDefault), Closed: c.NamespaceAutoCreate == "closed",
		Bounded: func() { a.gate.Widened() },
	})
	a.meet(st)
	gate := actions.NewGate(bodies, a.limits(c))
	a.gate = gate
	a.engine = engine.New(engine.Deps{
		Events: a.registry.WatchEvents(st), Meter: a.registry, Index: st, Plans: catalogue, Admission: gate, Watch: watch, Clock: a.clock, Logger: a.log,
		Owner: a.instance, ClaimTTL: c.ActionsClaimTTL, Workers: c.EngineWorkers, CacheRuns: c.EngineCacheRuns, HistoryLimit: c.EngineHistoryLimit,
		Shared: a.others.shared, Shards: a.shards,
	})
	a.others.engine.Store(a.engine)
	reader := engine.NewReader(a.engine, st)
	publisher := transcripts.NewPublisher(st, watch, a.clock, a.log, bounds(c))
	a.bodies = actions.NewCatalogue(a.log)
	a.openBodies = func() { a.bodies.Install(catalogue, st) }
	a.dispatcher = actions.New(actions.Deps{
		Engine: a.engine, Gate: gate, Tasks: st, Backlogs: st, Events: st, Catalogue: a.bodies, Executor: run, Transcript: publisher,
		Clock: a.clock, IDs: a.ids, Logger: a.log, Meter: a.registry, ClaimTTL: c.ActionsClaimTTL, LostAttempts: c.EngineLostAttempts, MaxResult: int(c.LimitPayloadBytes), Poll: c.EnginePollInterval,
		Peers: a.others.service, KillGrace: c.ActionsKillGrace, KillWait: c.ActionsKillWait, Left: func() { a.workers.Wake() },
	})
	a.workers = a.newWorkers(st, catalogue, publisher)
	a.queues = a.newQueues(st, catalogue)
	a.wheel = timers.New(a.engine, st, a.clock, a.log, c.EnginePollInterval)
	a.couriers = engine.NewCouriers(a.engine, st, catalogue, a.ids, c.EnginePollInterval)
	a.Runs = runs.New(runs.Deps{
		Namespaces: a.Namespaces, Engine: a.engine, Reader: reader, Events: st, Index: st, Changes: st, Transcripts: st, Types: catalogue, Watch: watch, Clock: a.clock,
		IDs: a.ids, Limits: runs.Limits{
			PayloadBytes: int(c.LimitPayloadBytes), PendingSignals: c.LimitPendingSignals,
			IdempotencyRetention: c.LimitIdempotencyRetention, QueryTimeout: c.EngineQueryTimeout, Poll: c.EnginePollInterval,
		},
		Meter: a.registry, Unserved: a.queues.Judge,
	})
	a.tasks, a.trail = a.newTasks(st), audit.New(audit.Deps{Log: st, Chain: a.instance, Clock: a.clock, Logger: a.log, Expiry: a.expiry(st)})
	a.retention = a.newRetention(st)
	a.schedules = a.newSchedules(st)
	a.registry.WatchTasks(st.CountMCPTasks)
	a.registry.WatchActions(a.sources(publisher, st))
	a.counted = metrics.Process{Index: st, Namespaces: st, Versions: st.Versions}
	a.Authoring = authoring.New(authoring.Deps{
		Documents: documents, Revisions: documents, Deployments: catalogue, Clock: a.clock, IDs: a.ids, Policy: a.deployWarnings(bodies), Audit: a.trail.Record,
		Checked: a.registry.Checked,
	})
	a.Transcripts = transcripts.New(transcripts.Deps{
		Store: st, Index: st, Attempts: reader, Watch: watch, Clock: a.clock, Publisher: publisher, Register: a.Namespaces,
	})
	return nil
}

// limits of the attempts that run; what namespaces have of their own is asked of their register.
func (a *App) limits(c Config) actions.Limits {
	return actions.Limits{InFlight: c.LimitMaxInFlight, PerNamespace: c.NamespaceMaxInFlight, Own: a.Namespaces.InFlight}
}

func bounds(c Config) transcripts.Bounds {
	b := transcripts.Bounds{
		BatchEvents: c.TranscriptMaxBatch, Hold: c.TranscriptMaxHold, QueueEvents: c.TranscriptQueueEvents,
		QueueBytes: int(c.TranscriptQueueBytes), Stall: c.TranscriptStall, FlushTimeout: c.TranscriptFlushTimeout,
		MaxEvents: int64(c.TranscriptMaxEvents), MaxBytes: c.TranscriptMaxBytes,
	}
	if b.Hold == 0 {
		b.Hold = -1
	}
	return b
}

func (a *App) newExecutor() (*shell.Executor, error) {
	c := a.Config
	return shell.New(shell.Options{
		Home: c.Home, Instance: a.instance, WorkspaceRoot: c.ActionsWorkspaceRoot, Path: os.Getenv("PATH"),
		AllowedPrograms: c.ActionsAllowedPrograms, ProgramDirs: c.ActionsProgramDirs, KillGrace: c.ActionsKillGrace, KillWait: c.ActionsKillWait,
		MaxStdout: int(c.ActionsMaxStdout), MaxStderr: int(c.ActionsMaxStderr), IdleSupervisors: c.ActionsIdleSupervisors,
		OpenFiles: c.ActionsOpenFiles, Logger: a.log, Spawned: a.registry.Spawned, Containment: c.ActionsContainment, RunAs: c.ActionsRunAs,
		Limits: shell.Limits{Processes: c.ActionsProcesses, MemoryBytes: c.ActionsMemoryBytes, CPUSeconds: c.ActionsCPUSeconds},
		Env:    c.ActionsEnv, LookupEnv: os.LookupEnv,
	})
}

// Start brings the parts up in their order: leftovers of an earlier server are ended, the engine runs, what was in flight
// is recorded as lost, and only then new work begins.
func (a *App) Start(ctx context.Context) error {
	began := a.clock.Now()
	if a.others.shared {
		if err := a.others.service.Join(ctx); err != nil {
			return err
		}
	}
	if err := a.trail.Begin(ctx); err != nil {
		return err
	}
	if err := a.Namespaces.Prepare(ctx); err != nil {
		return err
	}
	var dead []string // servers whose process is gone, and with it all that they ran
	if a.executor != nil {
		left, err := a.executor.CleanUp(ctx)
		dead = a.executor.Died()
		for _, entry := range left {
			a.log.Warn("declared action was in flight when the previous server process ended", "action", entry.Action,
				"workflow_id", entry.Key.WorkflowID, "run_id", entry.Key.RunID, "activity_id", entry.Key.ActivityID, "attempt", entry.Key.Attempt)
		}
		if err != nil {
			return fmt.Errorf("end what the previous server left running: %w", err)
		}
		a.begin(ctx, "executor", a.executor.Run)
	}
	a.openBodies()
	if a.others.shared { // it leaves the others last
		a.begin(ctx, "replica", a.others.service.Run)
		a.begin(ctx, "namespaces", a.Namespaces.Run)
	}
	a.begin(ctx, "audit", a.trail.Run)
	a.begin(ctx, "engine", a.engine.Run)
	lost, err := a.dispatcher.Recover(ctx, dead...)
	if err != nil {
		return errors.Join(err, a.halt())
	}
	a.Lost = lost
	a.begin(ctx, "claims", a.dispatcher.KeepClaims) // to the end of the last attempt
	if a.others.shared {
		a.begin(ctx, "takeover", a.dispatcher.TakeOver)
	}
	a.begin(ctx, "dispatcher", a.dispatcher.Run)
	a.begin(ctx, "leases", a.workers.Sweep)
	a.begin(ctx, "polls", a.workers.Match)
	a.begin(ctx, "timers", a.wheel.Run)
	a.begin(ctx, "couriers", a.couriers.Run)
	a.begin(ctx, "tasks", a.tasks.Run)
	a.begin(ctx, "retention", a.retention.Run)
	a.begin(ctx, "schedules", a.schedules.Run)
	if a.keys != nil {
		a.begin(ctx, "issuer keys", a.keys.Run)
	}
	a.recovery.over(a.clock.Now().Sub(began), a.openRuns(ctx))
	a.shown.become(stateServing)
	return nil
}

// begin starts one part; halt stops it and waits for it.
func (a *App) begin(ctx context.Context, name string, run func(context.Context) error) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := run(ctx); err != nil && !errors.Is(err, errStopped) {
			a.log.Error("a part of the server ended", "part", name, "error", err)
		}
	})
	a.stops = append(a.stops, func() error { cancel(errStopped); wait.Wait(); return nil })
}

var errStopped = errors.New("stopped")

// halt stops what Start has begun, last first.
func (a *App) halt() error {
	var errs []error
	for i := len(a.stops) - 1; i >= 0; i-- {
		errs = append(errs, a.stops[i]())
	}
	a.stops = nil
	return errors.Join(errs...)
}

// Close gives running attempts the grace, parks the rest, and frees the store. It is called once.
func (a *App) Close(ctx context.Context, grace time.Duration) error {
	errs := []error{a.drain(ctx, grace)}
	started := len(a.stops) > 0
	errs = append(errs, a.halt())
	if started {
		a.trail.End(ctx)
	}
	if a.executor != nil {
		errs = append(errs, a.executor.Close())
	}
	return errors.Join(append(errs, a.closeStore())...)
}

// drain closes the door for everything new, and ends the running attempts. It may be called again.
func (a *App) drain(ctx context.Context, grace time.Duration) error {
	a.Authoring.Drain()
	a.workers.Drain()
	a.schedules.Drain()
	if len(a.stops) == 0 {
		return nil
	}
	return a.dispatcher.Drain(ctx, grace)
}

// Kill ends all commands at once: the second signal of a stop.
func (a *App) Kill() {
	if a.executor != nil {
		a.executor.Kill()
	}
}

func (a *App) closeStore() error {
	if a.durable == nil {
		return nil
	}
	return a.durable.Close()
}

// storeName is the store as a person would name it.
func (a *App) storeName() string {
	if a.durable == nil {
		return "memory (forgets everything at exit)"
	}
	if a.others.shared {
		return "postgres " + a.durable.Place()
	}
	path := a.Config.StorePath
	if home, err := os.UserHomeDir(); err == nil {
		if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) {
			path = filepath.Join("~", rel)
		}
	}
	return "sqlite " + path
}

var discard = slog.New(slog.DiscardHandler)
