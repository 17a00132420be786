package ports

import (
	"context"
	"time"
)

// Replica is a server process that works on a store together with others (engine 8).
type Replica struct {
	ID        string // the instance
	Address   string // where it serves; empty: nowhere
	Version   string
	StartedAt time.Time
	Epoch     int64     // rises with every joining of any replica; 0 before the first renewal
	Until     time.Time // when its lease ends unless it is renewed
}

// ReplicaStore keeps the leases of the servers that work on one store. The store's clock measures them.
type ReplicaStore interface {
	// RenewReplica lets a replica hold its lease for ttl from now. One that has none, or whose lease has ended, joins under
	// a new epoch. It returns the replicas whose lease holds now, this one included, by ID.
	RenewReplica(ctx context.Context, self Replica, ttl time.Duration) ([]Replica, error)
	// LeaveReplica ends a lease at once; an unknown id is ignored.
	LeaveReplica(ctx context.Context, id string) error
	// Replicas returns those whose lease holds now, by ID.
	Replicas(ctx context.Context) ([]Replica, error)
}
