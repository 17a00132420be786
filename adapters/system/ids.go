package system

import (
	"math/rand/v2"

	"github.com/google/uuid"

	"aion/ports"
)

// IDs draws from the machine's random source. It is safe for concurrent use.
type IDs struct{}

var _ ports.IDs = IDs{}

// UUIDv7 implements ports.IDs. Identifiers of one process rise strictly. It panics when the machine has no randomness:
// nothing can go on then.
func (IDs) UUIDv7() string { return uuid.Must(uuid.NewV7()).String() }

// Factor implements ports.IDs. It spreads retries and is no secret.
func (IDs) Factor() float64 { return rand.Float64() } //nolint:gosec // no secret
