package system

import (
	"time"

	"aion/ports"
)

// Clock is the machine's clock.
type Clock struct{}

var _ ports.Clock = Clock{}

// Now implements ports.Clock.
func (Clock) Now() time.Time { return time.Now().UTC() }

// After implements ports.Clock. The channel is garbage as soon as nobody refers to it.
func (Clock) After(d time.Duration) <-chan time.Time { return time.After(d) }
