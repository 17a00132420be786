package system_test

import (
	"testing"
	"testing/synctest"
	"time"

	"aion/adapters/system"
	"aion/domain"
	"aion/ports"
	"aion/test/conformance"
)

func TestWatchKeepsThePortsPromise(t *testing.T) {
	t.Parallel()
	conformance.Watch(t, func(testing.TB) ports.Watch { return system.NewWatch() })
}

func TestIdentifiersAreParsedUUIDsThatRise(t *testing.T) {
	t.Parallel()
	last := ""
	for range 10_000 {
		id := system.IDs{}.UUIDv7()
		if parsed, err := domain.ParseRunID(id); err != nil || string(parsed) != id || id[14] != '7' {
			t.Fatalf("identifier %q: %v", id, err)
		}
		if id <= last {
			t.Fatalf("%q after %q", id, last)
		}
		last = id
	}
}

func TestFactorIsAFraction(t *testing.T) {
	t.Parallel()
	seen := map[float64]bool{}
	for range 1000 {
		f := system.IDs{}.Factor()
		if f < 0 || f >= 1 {
			t.Fatalf("factor %v", f)
		}
		seen[f] = true
	}
	if len(seen) < 900 {
		t.Errorf("%d different factors of 1000", len(seen))
	}
}

func TestClockIsInUTCAndWakesNoEarlierThanAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := system.Clock{}
		begin := c.Now()
		if begin.Location() != time.UTC {
			t.Errorf("zone %v", begin.Location())
		}
		<-c.After(90 * time.Second)
		if d := c.Now().Sub(begin); d != 90*time.Second {
			t.Errorf("woken after %v", d)
		}
	})
}
