package history

import (
	"time"

	"aion/domain"
)

// Lease is one grant of an attempt to a remote worker (actions 8.4). The claim of its attempt is the fence; the lease says
// who holds the attempt, with which token, and until when.
type Lease struct {
	Hash      string // of the token that the worker was given; nothing else of it is kept
	TaskID    string // names the attempt to its worker
	WorkerID  string
	PollID    string // the poll that was answered with it
	Server    string // the server instance that granted it
	Namespace domain.Namespace
	Key       domain.AttemptKey
	Token     Seq // of the claim
	GrantedAt time.Time
	Until     time.Time // never behind the deadline
	Deadline  time.Time // the authored bound of the attempt; zero: none
	State     LeaseState
	End       LeaseEnd  // why it ended, or is about to; empty while it is held
	Verdict   string    // digest of the verdict that its worker gave; empty: none
	RetryAt   time.Time // of a recorded failure: when the next attempt follows; zero: none does
}

// Claim is what the lease's worker may say how it ended with.
func (l Lease) Claim() Claim { return Claim{Key: l.Key, Token: l.Token} }

// LeaseState of a stored lease.
type LeaseState string

// The states. An ending lease is fenced: nothing of its worker is taken, and what became of the attempt is being recorded.
const (
	LeaseHeld   LeaseState = "held"
	LeaseEnding LeaseState = "ending"
	LeaseEnded  LeaseState = "ended"
)

// LeaseEnd is why a lease ended.
type LeaseEnd string

// The ends. A superseded lease lost its attempt to somebody else.
const (
	LeaseSettled    LeaseEnd = "settled"
	LeaseExpired    LeaseEnd = "expired"
	LeaseTimeout    LeaseEnd = "timeout"
	LeaseWorkerGone LeaseEnd = "worker_gone"
	LeaseReleased   LeaseEnd = "released"
	LeaseRunClosed  LeaseEnd = "run_closed"
	LeaseCancelled  LeaseEnd = "cancelled"
	LeaseSuperseded LeaseEnd = "superseded"
)

// The acts of leases.
type (
	// LeaseTaken stores a lease with the start of its attempt.
	LeaseTaken struct{ Lease Lease }
	// LeaseOver ends a stored lease with the verdict of its attempt.
	LeaseOver struct {
		Hash    string
		End     LeaseEnd
		Verdict string
		RetryAt time.Time
	}
)

func (LeaseTaken) act() {}
func (LeaseOver) act()  {}

const remote = "worker/"

// RemoteOwner is the owner of a task that a remote worker holds.
func RemoteOwner(workerID string) string { return remote + workerID }

// Remote reports whether a remote worker holds the task: its lease says until when, and not its claim.
func (t Task) Remote() bool { return len(t.Owner) > len(remote) && t.Owner[:len(remote)] == remote }

// HeldByLease is until when the claim of a task holds that a remote worker has: until its lease ends.
func HeldByLease() time.Time { return time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC) }
