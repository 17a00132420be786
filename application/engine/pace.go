package engine

import (
	"time"

	"aion/domain"
)

// pace tells how long one server has written to a workflow without a pause.
type pace struct {
	turns int // that were recorded since the last pause
	took  time.Duration
	last  time.Time // when the last one was recorded
}

// The pauses for other servers: one after so many turns, of at most so long. What an event costs to be folded is an estimate.
const (
	turnsBetween = 32
	longestPause = 200 * time.Millisecond
	foldedEvent  = 5 * time.Microsecond
)

func (e *Engine) keepPace(t *turn) {
	if !e.deps.Shared || len(t.commit.Events) == 0 {
		return
	}
	p := &t.entry.pace
	p.turns, p.last = p.turns+1, e.deps.Clock.Now()
	p.took = p.last.Sub(t.began)
}

// giveWay lets other servers write to a workflow that this one has written to many times. Who lost a race folds the history
// again, while the winner only adds to the state that it keeps: against one that never rests it would lose for ever. A
// pause is as long as that takes, twice, because its last try may have begun just before.
func (e *Engine) giveWay(ent *entry) {
	p := &ent.pace
	if p.turns < turnsBetween {
		return
	}
	p.turns = 0
	if shards := e.Shards(); len(shards) == domain.Shards {
		return // nobody else is there
	}
	folding := time.Duration(ent.run.Head()-ent.run.Row().FirstSeq) * foldedEvent
	pause := min(2*(p.took+folding), longestPause) - e.deps.Clock.Now().Sub(p.last)
	if pause > 0 {
		<-e.deps.Clock.After(pause)
	}
}
