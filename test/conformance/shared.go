package conformance

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/history"
	"aion/ports"
)

// SharedStore is a store that several servers work on.
type SharedStore interface {
	Store
	ports.ReplicaStore
}

// Shared runs what only a store for several servers promises: shards and replicas.
func Shared(t *testing.T, open func(testing.TB) SharedStore) {
	run(t, open, map[string]func(*testing.T, SharedStore){
		"timers are read by shard":                                 timersByShard,
		"messages are read by the shard of who posted them":        messagesByShard,
		"a replica joins, holds its lease and leaves":              replicaLives,
		"a lease that has ended is joined again under a new epoch": replicaJoinsAgain,
		"20 replicas that join at once have 20 epochs":             replicasTogether,
	})
}

// apart gives flows of different shards, by shard.
func apart(t *testing.T) []*flow {
	t.Helper()
	flows := []*flow{newFlow(1), newFlow(2), newFlow(3), newFlow(4)}
	slices.SortFunc(flows, func(a, b *flow) int { return cmp.Compare(a.id.Shard(), b.id.Shard()) })
	for i := range flows[1:] {
		if flows[i].id.Shard() == flows[i+1].id.Shard() {
			t.Fatal("two flows of one shard")
		}
	}
	return flows
}

// shardings are pieces of the shards with the flows in them.
func shardings(flows []*flow) map[string]struct {
	of   ports.Shards
	want []*flow
} {
	shard := func(n int) int { return flows[n].id.Shard() }
	all := ports.Shards{}
	for n := range domain.Shards {
		all = append(all, n)
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(n int) bool { return n == shard(0) })
	return map[string]struct {
		of   ports.Shards
		want []*flow
	}{
		"nil":        {nil, flows},
		"all":        {all, flows},
		"none":       {ports.Shards{}, nil},
		"one":        {ports.Shards{shard(2)}, flows[2:3]},
		"two":        {ports.Shards{shard(3), shard(0)}, []*flow{flows[0], flows[3]}},
		"all others": {rest, flows[1:]},
	}
}

func timersByShard(t *testing.T, s SharedStore) { // engine 8
	flows := apart(t)
	for n, f := range flows {
		withTimers(t, s, f, f.timer(0, start.Add(time.Duration(n)*time.Second)))
	}
	for name, c := range shardings(flows) {
		var want []history.Timer
		var first time.Time
		for _, f := range c.want {
			at := start.Add(time.Duration(slices.Index(flows, f)) * time.Second)
			want = append(want, f.timer(0, at))
			if first.IsZero() {
				first = at
			}
		}
		got, err := s.DueTimers(t.Context(), c.of, never, 10)
		same(t, name, must(t, got, err), want)
		got, err = s.DueTimers(t.Context(), c.of, never, 1)
		same(t, name+", limited", must(t, got, err), want[:min(1, len(want))])
		got, err = s.DueTimers(t.Context(), c.of, start.Add(-time.Second), 10)
		same(t, name+", too early", must(t, got, err), []history.Timer(nil))
		next, err := s.NextTimer(t.Context(), c.of)
		same(t, name+", the next one", must(t, next, err), first)
	}
}

func messagesByShard(t *testing.T, s SharedStore) { // engine 8
	flows := apart(t)
	for _, f := range flows {
		post(t, s, f, f.message(1))
	}
	for name, c := range shardings(flows) {
		var want []history.Message
		for _, f := range c.want {
			want = append(want, f.message(1))
		}
		got, err := s.Pending(t.Context(), c.of, 10)
		same(t, name, must(t, got, err), want)
		got, err = s.Pending(t.Context(), c.of, 1)
		same(t, name+", limited", must(t, got, err), want[:min(1, len(want))])
	}
}

func replica(name string) ports.Replica {
	return ports.Replica{ID: name, Address: "127.0.0.1:1", Version: "1.2.3", StartedAt: start}
}

func renew(t *testing.T, s ports.ReplicaStore, r ports.Replica, ttl time.Duration) []ports.Replica {
	t.Helper()
	list, err := s.RenewReplica(t.Context(), r, ttl)
	return must(t, list, err)
}

// members checks a list of replicas by their ids, and that each holds its lease for about an hour.
func members(t *testing.T, what string, list []ports.Replica, want ...string) {
	t.Helper()
	var ids []string
	for _, r := range list {
		ids = append(ids, r.ID)
		wanted := replica(r.ID)
		wanted.Epoch, wanted.Until = r.Epoch, r.Until
		same(t, what, r, wanted)
		if r.Epoch <= 0 || r.Until.IsZero() {
			t.Errorf("%s: %s holds epoch %d until %s", what, r.ID, r.Epoch, r.Until)
		}
	}
	same(t, what, ids, want)
}

func replicaLives(t *testing.T, s SharedStore) { // engine 8
	none, err := s.Replicas(t.Context())
	same(t, "of an empty store", must(t, none, err), []ports.Replica(nil))
	members(t, "alone", renew(t, s, replica("b"), time.Hour), "b")
	joined := renew(t, s, replica("a"), time.Hour)
	members(t, "two", joined, "a", "b")
	if joined[0].Epoch <= joined[1].Epoch {
		t.Errorf("epoch %d joined after epoch %d", joined[0].Epoch, joined[1].Epoch)
	}
	again := renew(t, s, replica("b"), 2*time.Hour)
	members(t, "renewed", again, "a", "b")
	if again[1].Epoch != joined[1].Epoch || !again[1].Until.After(joined[1].Until) {
		t.Errorf("renewed: %+v, was %+v", again[1], joined[1])
	}
	for _, name := range []string{"a", "unknown"} {
		if err := s.LeaveReplica(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	left, err := s.Replicas(t.Context())
	members(t, "after one has left", must(t, left, err), "b")
}

func replicaJoinsAgain(t *testing.T, s SharedStore) { // engine 8
	first := renew(t, s, replica("a"), time.Hour)
	members(t, "with a lease that ends at once", renew(t, s, replica("b"), -time.Second), "a")
	members(t, "joined", renew(t, s, replica("b"), time.Hour), "a", "b")
	renew(t, s, replica("a"), 0)
	again := renew(t, s, replica("a"), time.Hour)
	members(t, "joined again", again, "a", "b")
	if again[0].Epoch <= again[1].Epoch || again[0].Epoch <= first[0].Epoch {
		t.Errorf("the epoch did not rise: %+v, was %+v", again, first)
	}
}

func replicasTogether(t *testing.T, s SharedStore) { // engine 8
	for _, err := range together(20, func(n int) error {
		_, err := s.RenewReplica(t.Context(), replica(id(n)), time.Hour)
		return err
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	list, err := s.Replicas(t.Context())
	epochs := map[int64]bool{}
	for _, r := range must(t, list, err) {
		epochs[r.Epoch] = true
	}
	if len(list) != 20 || len(epochs) != 20 {
		t.Errorf("%d replicas in %d epochs", len(list), len(epochs))
	}
}
