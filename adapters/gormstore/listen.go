package gormstore

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"aion/domain"
	"aion/ports"
)

const (
	channel   = "aion"
	sqlListen = `LISTEN ` + channel
	sqlNotify = `SELECT pg_notify('` + channel + `', $1)`

	idsAtOnce    = 180 // workflow ids in one notification: it holds less than 8,000 bytes
	notifyAtMost = 3   // notifications of one transaction; more than that is "anything"
)

// A notification is `<instance> <flags> <workflow id>…`, the instance escaped. It only wakes: whoever misses one looks all
// the same, a moment later. So it is sent behind the commit and not with it: a commit that notifies would wait for every
// other one that does, through its fsync.

// tell sends what the others are to know.
func (w *postgresWriter) tell(p *pipeline, c *changed) {
	if c.nothing() || w.alone.Load() && !c.Replicas {
		return
	}
	head := url.QueryEscape(w.instance) + " " + c.flags()
	if len(c.Workflows) > idsAtOnce*notifyAtMost {
		p.batch.Queue(sqlNotify, head+"a")
		return
	}
	for first := 0; first == 0 || first < len(c.Workflows); first += idsAtOnce {
		var b strings.Builder
		b.WriteString(head)
		for _, id := range c.Workflows[first:min(first+idsAtOnce, len(c.Workflows))] {
			b.WriteByte(' ')
			b.WriteString(url.QueryEscape(string(id)))
		}
		p.batch.Queue(sqlNotify, b.String())
	}
}

func (c *changed) flags() string {
	flags := "-"
	for _, f := range []struct {
		set  bool
		flag string
	}{{c.Timers, "t"}, {c.Messages, "m"}, {c.Tasks, "k"}, {c.Replicas, "r"}} {
		if f.set {
			flags += f.flag
		}
	}
	return flags
}

// heard reads a notification; ours is one that this process has sent.
func heard(text, instance string) (c ports.Changes, ours bool) {
	words := strings.Fields(text)
	if len(words) < 2 {
		return ports.Changes{All: true}, false
	}
	if words[0] == url.QueryEscape(instance) {
		return ports.Changes{}, true
	}
	flags := words[1]
	c = ports.Changes{
		All: strings.Contains(flags, "a"), Timers: strings.Contains(flags, "t"), Messages: strings.Contains(flags, "m"),
		Tasks: strings.Contains(flags, "k"), Replicas: strings.Contains(flags, "r"),
	}
	for _, word := range words[2:] {
		id, err := url.QueryUnescape(word)
		if err != nil {
			return ports.Changes{All: true}, false
		}
		c.Workflows = append(c.Workflows, domain.WorkflowID(id))
	}
	return c, false
}

// listener hears what other processes change, on a connection of its own.
type listener struct {
	config   *pgx.ConnConfig
	instance string
	changed  func(ports.Changes)
	alone    *atomic.Bool
	patience time.Duration
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

const (
	listenPauseMin = 100 * time.Millisecond
	listenPauseMax = 2 * time.Second
)

func listen(ctx context.Context, config *pgx.ConnConfig, o PostgresOptions, alone *atomic.Bool) *listener {
	ctx, cancel := context.WithCancel(ctx)
	l := &listener{config: config.Copy(), instance: o.Instance, changed: o.Changed, alone: alone, patience: o.patience, cancel: cancel}
	l.done.Go(func() { l.run(ctx) })
	return l
}

func (l *listener) stop() {
	l.cancel()
	l.done.Wait()
}

func (l *listener) run(ctx context.Context) {
	for pause := listenPauseMin; ; pause = min(2*pause, listenPauseMax) {
		if l.hear(ctx) {
			pause = listenPauseMin
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// hear listens until the connection fails; heard tells whether there was one.
func (l *listener) hear(ctx context.Context) (connected bool) {
	setting, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	conn, err := pgx.ConnectConfig(setting, l.config)
	if err != nil {
		return false
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(setting, sqlListen); err != nil {
		return false
	}
	l.changed(ports.Changes{All: true}) // what was said before is missed
	for {
		text, err := l.wait(ctx, conn)
		if err != nil {
			return true
		}
		if c, ours := heard(text, l.instance); !ours {
			l.alone.Store(false) // somebody has said something
			l.changed(c)
		}
	}
}

// wait gives the next notification. While nothing is said it tries the connection now and then.
func (l *listener) wait(ctx context.Context, conn *pgx.Conn) (string, error) {
	for {
		quiet, cancel := context.WithTimeout(ctx, 2*l.patience) // a dead one is quiet, too
		n, err := conn.WaitForNotification(quiet)
		cancel()
		if err == nil {
			return n.Payload, nil
		}
		if ctx.Err() != nil || conn.IsClosed() {
			return "", err
		}
		trying, cancel := context.WithTimeout(ctx, l.patience)
		err = conn.Ping(trying)
		cancel()
		if err != nil {
			return "", err
		}
	}
}
