package replicas_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"aion/adapters/memory"
	"aion/application/replicas"
	"aion/domain"
	"aion/ports"
	"aion/test/fake"
)

type realtime struct{}

func (realtime) Now() time.Time                         { return time.Now() }
func (realtime) After(d time.Duration) <-chan time.Time { return time.After(d) }

// server is one member of a store.
type server struct {
	*replicas.Service
	store *fake.Store
	moved atomic.Int64
	log   *fake.Log
	stop  func()
}

// join adds a member to a store.
func join(t testing.TB, backend fake.Backend, id string) *server {
	t.Helper()
	s := &server{store: fake.NewStore(backend), log: &fake.Log{}}
	s.Service = replicas.New(replicas.Deps{
		Store: s.store, Clock: realtime{}, Logger: slog.New(slog.NewTextHandler(s.log, nil)), Self: ports.Replica{ID: id, Address: "here", Version: "v"},
		Moved: func() { s.moved.Add(1) },
	})
	if err := s.Join(context.Background()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { _ = s.Run(ctx) })
	s.stop = sync.OnceFunc(func() { cancel(); wait.Wait() })
	return s
}

// kill ends a member without its leaving.
func (s *server) kill() {
	s.store.Cut()
	s.stop()
}

// owners gives the member of each shard, or refuses a view in which one has none or two.
func owners(t *testing.T, members map[string]*server) []string {
	t.Helper()
	of := make([]string, domain.Shards)
	for id, m := range members {
		for _, shard := range m.Shards() {
			if of[shard] != "" {
				t.Errorf("shard %d has %s and %s", shard, of[shard], id)
			}
			of[shard] = id
		}
	}
	if shard := slices.Index(of, ""); shard >= 0 {
		t.Errorf("shard %d has nobody", shard)
	}
	return of
}

// engine 8: whoever is there, each shard has one server; one that comes or goes moves its own shards and no other, and nobody
// has much more than its share.
func TestShardsArePartedFairlyAndMoveLittle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}`), 2, 7, rapid.ID[string]).Draw(rt, "ids")
		dies := rapid.Bool().Draw(rt, "dies")
		synctest.Test(t, func(t *testing.T) {
			backend, members := memory.New(realtime{}), map[string]*server{}
			for _, id := range ids {
				members[id] = join(t, backend, id)
				defer members[id].stop()
			}
			time.Sleep(1500 * time.Millisecond)
			before := owners(t, members)
			for id, m := range members {
				share := float64(domain.Shards) / float64(len(ids))
				if n := len(m.Shards()); float64(n) > share+6*math.Sqrt(share) || len(m.Members()) != len(ids) || !m.Others() {
					t.Errorf("%s has %d shards of %d servers and sees %d", id, n, len(ids), len(m.Members()))
				}
			}
			gone := members[ids[0]]
			delete(members, ids[0])
			if dies {
				gone.kill()
				time.Sleep(11 * time.Second)
			} else {
				gone.stop()
				time.Sleep(time.Second)
			}
			synctest.Wait()
			for shard, id := range owners(t, members) {
				if before[shard] != ids[0] && before[shard] != id {
					t.Errorf("shard %d moved from %s to %s, and %s went", shard, before[shard], id, ids[0])
				}
			}
			if len(members) == 1 && members[ids[1]].Others() {
				t.Error("the last one sees others")
			}
		})
	})
}

// engine 8: a lease that cannot be renewed ends here no later than there; then nothing is looked after until it is renewed.
func TestShardsEndWithTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend := memory.New(realtime{})
		a, b := join(t, backend, "a"), join(t, backend, "b")
		defer a.stop()
		defer b.stop()
		time.Sleep(1500 * time.Millisecond)
		mine := a.Shards()
		a.store.Cut()
		time.Sleep(6 * time.Second)
		if !slices.Equal(mine, a.Shards()) || !a.Valid() {
			t.Errorf("%v after %v", a.Shards(), mine)
		}
		for b.Others() {
			time.Sleep(100 * time.Millisecond)
		}
		if n := a.Shards(); n == nil || len(n) > 0 || a.Valid() || !a.Others() {
			t.Errorf("the other one has taken over, and this one has %v", n)
		}
		if n := len(b.Shards()); n != domain.Shards {
			t.Errorf("%d", n)
		}
		if n := strings.Count(a.log.String(), "cannot be seen"); n != 1 {
			t.Errorf("%d warnings", n)
		}
		a.store.Heal()
		time.Sleep(3 * time.Second)
		if !slices.Equal(mine, a.Shards()) || !a.Valid() {
			t.Errorf("%v after %v", a.Shards(), mine)
		}
		if rs := a.Members(); len(rs) != 2 || rs[0].Epoch != 3 || rs[1].Epoch != 2 {
			t.Errorf("%+v", rs)
		}
	})
}

// actions 5.4: an error and a long pause each start the time again for which the store has answered.
func TestGaplessIsTheTimeThatTheStoreHasAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := join(t, memory.New(realtime{}), "a")
		defer a.stop()
		within := func(what string, low, high time.Duration) {
			t.Helper()
			if g := a.Gapless(); g < low || g > high {
				t.Errorf("%s: %s", what, g)
			}
		}
		time.Sleep(60*time.Second + time.Millisecond)
		within("after a minute", 59*time.Second, 61*time.Second)
		a.store.Script(fake.Fault{Call: 1, When: fake.Before})
		time.Sleep(time.Second)
		within("after an error", 0, time.Second)
		time.Sleep(30 * time.Second)
		within("30 s later", 29*time.Second, 31*time.Second)
		frozen := make(chan struct{})
		a.store.Script(fake.Fault{Call: 1, Hold: frozen}) // the process stands still in the middle of a call
		time.Sleep(12 * time.Second)
		within("frozen", 0, 0)
		close(frozen)
		time.Sleep(time.Second)
		within("going on", 0, 2*time.Second)
		time.Sleep(20 * time.Second)
		within("20 s later", 18*time.Second, 22*time.Second)
	})
}

// engine 8: who leaves is replaced at once when the store tells of it.
func TestLeavingIsSeenWhenItIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend := memory.New(realtime{})
		a, b := join(t, backend, "a"), join(t, backend, "b")
		defer b.stop()
		time.Sleep(1500 * time.Millisecond)
		moved := b.moved.Load()
		a.Serve("there")
		time.Sleep(3 * time.Second)
		if m := b.Members(); m[0].Address != "there" || m[1].Address != "here" || m[1].Version != "v" {
			t.Errorf("%+v", m)
		}
		a.stop()
		b.Changed()
		b.Changed()
		synctest.Wait()
		if b.Others() || len(b.Shards()) != domain.Shards || b.moved.Load() != moved+1 {
			t.Errorf("%d shards, told %d times", len(b.Shards()), b.moved.Load())
		}
	})
}

func TestServerWithoutPeersLooksAfterEverything(t *testing.T) {
	t.Parallel()
	var none *replicas.Service
	none.Changed()
	none.Serve("here")
	if none.Shards() != nil || none.Others() || none.Members() != nil || !none.Valid() || none.Gapless() != 0 {
		t.Error(fmt.Sprint(none.Shards(), none.Others(), none.Members(), none.Valid(), none.Gapless()))
	}
}

func TestJoiningAStoreThatIsAwayIsRefused(t *testing.T) {
	t.Parallel()
	store := fake.NewStore(memory.New(realtime{}))
	store.Cut()
	s := replicas.New(replicas.Deps{Store: store, Clock: realtime{}, Logger: slog.New(slog.DiscardHandler), Self: ports.Replica{ID: "a"}})
	if err := s.Join(t.Context()); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Error(err)
	}
	if n := s.Shards(); n == nil || len(n) != 0 || s.Valid() {
		t.Errorf("%v", n)
	}
}
