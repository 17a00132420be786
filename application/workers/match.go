package workers

import (
	"cmp"
	"context"
	"slices"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/domain/worker"
	"aion/ports"
)

// givenAtOnce bounds the tasks of one queue that one pass gives out.
const givenAtOnce = 256

// grant is an attempt that a poll is about to take.
type grant struct {
	worker    string
	namespace domain.Namespace
}

// Match gives waiting tasks to waiting polls until ctx ends: in the order of arrival, after a commit that lets a task wait
// and, because a wake-up may be lost, after a while. It returns the cause of ctx.
func (s *Service) Match(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.woken:
		case <-s.Clock.After(s.PollInterval):
		}
		if err := s.pass(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("waiting tasks cannot be given to workers now", "error", err)
		}
	}
}

// pass looks once at every queue that polls wait for.
func (s *Service) pass(ctx context.Context) error {
	s.mu.Lock()
	waiting := slices.Clone(s.waiting)
	s.mu.Unlock()
	if len(waiting) == 0 {
		return nil
	}
	s.noteWaiting(ctx, waiting)
	r, err := s.room(ctx)
	if err == nil {
		queues := map[string][]*waiter{}
		for _, x := range waiting {
			queues[x.worker.TaskQueue] = append(queues[x.worker.TaskQueue], x)
		}
		for queue, list := range queues {
			err = cmp.Or(s.matchQueue(ctx, queue, list, r), err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range waiting {
		if x.once || len(x.taken) > 0 {
			s.answer(x)
		}
	}
	return err
}

// answer hands a poll what a pass took for it; one that has left gives it back.
func (s *Service) answer(x *waiter) {
	tasks := x.taken
	x.taken = nil
	i := slices.Index(s.waiting, x)
	if i < 0 {
		for _, t := range tasks {
			delete(s.granting, t.Key)
		}
		return
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	x.given <- tasks
}

// forget lets others take what was taken for a poll.
func (s *Service) forget(tasks []history.Task) {
	if len(tasks) == 0 {
		return
	}
	s.mu.Lock()
	for _, t := range tasks {
		delete(s.granting, t.Key)
	}
	s.mu.Unlock()
	s.Wake()
}

// noteWaiting keeps workers alive whose polls wait.
func (s *Service) noteWaiting(ctx context.Context, waiting []*waiter) {
	now := s.Clock.Now()
	var late []string
	s.mu.Lock()
	for _, x := range waiting {
		if id := x.id; !s.seen[id].Add(s.HeartbeatInterval).After(now) {
			s.seen[id] = now
			late = append(late, id)
		}
	}
	s.mu.Unlock()
	if len(late) > 0 {
		_ = s.Store.SeenWorkers(ctx, late, now) // a store that is away is asked again
	}
}

// room is what may be given out besides what is held.
type room struct {
	server    int // by this server
	namespace map[domain.Namespace]int
	held      map[string]int // by worker
	of        func(domain.Namespace) int
}

// left is how much more of a namespace may be held.
func (r *room) left(ns domain.Namespace) int {
	if _, known := r.namespace[ns]; !known {
		r.namespace[ns] = r.of(ns)
	}
	return min(r.server, r.namespace[ns])
}

func (r *room) take(id string, ns domain.Namespace) {
	r.server--
	r.namespace[ns]--
	r.held[id]++
}

// room counts what is held: by leases, and by polls that are about to.
func (s *Service) room(ctx context.Context) (*room, error) {
	s.mu.Lock()
	held := make(map[domain.AttemptKey]grant, len(s.granting))
	mine := len(s.granting)
	for key, g := range s.granting {
		held[key] = g
	}
	s.mu.Unlock()
	open, err := s.Store.OpenLeases(ctx, "")
	if err != nil {
		return nil, err
	}
	states := map[history.LeaseState]int{}
	for _, l := range open {
		states[l.State]++
		if _, twice := held[l.Key]; !twice && l.Server == s.Engine.Owner() {
			mine++
		}
		held[l.Key] = grant{l.WorkerID, l.Namespace}
	}
	s.open.Store(&states)
	r := &room{namespace: map[domain.Namespace]int{}, held: map[string]int{}}
	perNS := map[domain.Namespace]int{}
	for _, g := range held {
		r.held[g.worker]++
		perNS[g.namespace]++
	}
	s.Gate.Remote(mine, perNS)
	r.server, r.of = s.Gate.Room(), s.Gate.RoomOf
	return r, nil
}

// lane is what waits of one action of one version, with the polls that may take it.
type lane struct {
	ports.Backlog
	takers []*waiter
	tasks  []history.Task
}

// matchQueue gives out what waits in one queue: namespaces in turn, the oldest task of each first, to the poll that has
// least of those that may take it.
func (s *Service) matchQueue(ctx context.Context, queue string, waiting []*waiter, r *room) error {
	now := s.Clock.Now()
	live, err := s.Store.Workers(ctx, queue, worker.GoneBefore(now, s.HeartbeatInterval))
	if err != nil {
		return err
	}
	waiting = present(waiting, live)
	free := 0
	for _, x := range waiting {
		free += min(x.most, x.worker.MaxConcurrency-r.held[x.worker.ID])
	}
	if free <= 0 || r.server <= 0 {
		return nil
	}
	backlogs, err := s.Store.Backlogs(ctx, queue, now)
	if err != nil {
		return err
	}
	lanes := map[domain.Namespace][]*lane{}
	for _, b := range backlogs {
		if r.left(b.Namespace) <= 0 {
			continue
		}
		if takers := s.takers(ctx, b, waiting); len(takers) > 0 {
			lanes[b.Namespace] = append(lanes[b.Namespace], &lane{Backlog: b, takers: takers})
		}
	}
	if err := s.load(ctx, lanes, min(free, givenAtOnce), now); err != nil {
		return err
	}
	s.deal(queue, lanes, r)
	return nil
}

// present leaves out the polls of workers that are gone or drain, which are answered with nothing, and takes over what
// workers have registered meanwhile.
func present(waiting []*waiter, live []worker.Worker) []*waiter {
	known := make(map[string]worker.Worker, len(live))
	for _, w := range live {
		known[w.ID] = w
	}
	var list []*waiter
	for _, x := range waiting {
		w, ok := known[x.worker.ID]
		if !ok || w.Draining {
			x.once = true
			continue
		}
		x.worker = w
		list = append(list, x)
	}
	return list
}

// takers are the polls that may take what waits; none may when the server takes it itself.
func (s *Service) takers(ctx context.Context, b ports.Backlog, waiting []*waiter) (list []*waiter) {
	v := s.version(ctx, b.PackageVersion)
	if v == nil {
		return nil // it cannot begin before its version can be read
	}
	declared := v.Plan.Action(b.TaskQueue, b.Name)
	if declared == nil || s.Gate.Serves(declared) {
		return nil
	}
	for _, x := range waiting {
		if s.eligible(x.worker, b.Namespace, declared, b.PackageVersion) {
			list = append(list, x)
		}
	}
	return list
}

// load reads the tasks of lanes that no poll is about to take.
func (s *Service) load(ctx context.Context, lanes map[domain.Namespace][]*lane, most int, now time.Time) error {
	s.mu.Lock()
	taken := len(s.granting)
	s.mu.Unlock()
	for _, list := range lanes {
		for _, l := range list {
			tasks, err := s.Store.WaitingTasks(ctx, l.Backlog, now, most+taken)
			if err != nil {
				return err
			}
			l.tasks = tasks
		}
	}
	return nil
}

func (s *Service) deal(queue string, lanes map[domain.Namespace][]*lane, r *room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	turns := make([]domain.Namespace, 0, len(lanes))
	for ns := range lanes {
		turns = append(turns, ns)
	}
	slices.Sort(turns)
	if i := slices.IndexFunc(turns, func(ns domain.Namespace) bool { return ns > s.after[queue] }); i > 0 {
		turns = append(turns[i:], turns[:i]...)
	}
	for given := 0; len(turns) > 0 && given < givenAtOnce; {
		ns := turns[0]
		turns = turns[1:]
		if r.left(ns) > 0 && s.dealOne(lanes[ns], r) {
			turns = append(turns, ns)
			if s.after[queue] = ns; len(s.after) > maxWorkers {
				clear(s.after)
			}
			given++
		}
	}
}

// dealOne gives the oldest task of a namespace that somebody may take.
func (s *Service) dealOne(list []*lane, r *room) bool {
	for {
		var oldest *lane
		for _, l := range list {
			for len(l.tasks) > 0 && s.isGranting(l.tasks[0].Key) {
				l.tasks = l.tasks[1:]
			}
			if len(l.tasks) > 0 && (oldest == nil || l.tasks[0].ScheduledAt.Before(oldest.tasks[0].ScheduledAt)) {
				oldest = l
			}
		}
		if oldest == nil {
			return false
		}
		x := least(oldest.takers, r)
		if x == nil {
			oldest.tasks = nil // all who may are full
			continue
		}
		t := oldest.tasks[0]
		oldest.tasks = oldest.tasks[1:]
		x.taken = append(x.taken, t)
		s.granting[t.Key] = grant{x.worker.ID, t.Namespace}
		r.take(x.worker.ID, t.Namespace)
		return true
	}
}

func (s *Service) isGranting(key domain.AttemptKey) bool {
	_, ok := s.granting[key]
	return ok
}

// least is the poll with the fewest tasks of this pass, the first that came among equals; nil: none has room.
func least(takers []*waiter, r *room) (best *waiter) {
	for _, x := range takers {
		if len(x.taken) < x.most && r.held[x.worker.ID] < x.worker.MaxConcurrency && (best == nil || len(x.taken) < len(best.taken)) {
			best = x
		}
	}
	return best
}
