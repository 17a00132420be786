package conformance

import (
	"testing"

	"aion/ports"
)

// Watch runs the suite of ports.Watch.
func Watch(t *testing.T, open func(testing.TB) ports.Watch) {
	run(t, open, map[string]func(*testing.T, ports.Watch){
		"a change wakes everyone who watches the workflow": changeWakes,
		"a reader that lags does not hold up a change":     laggingReader,
		"nobody is woken after the end":                    stoppedReader,
		"readers come and go while changes happen":         busyWatch,
	})
}

func woken(c <-chan struct{}) bool {
	select {
	case _, open := <-c:
		return open
	default:
		return false
	}
}

func changeWakes(t *testing.T, w ports.Watch) {
	f, g := newFlow(1), newFlow(2)
	first, stopFirst := w.Subscribe(f.id)
	second, stopSecond := w.Subscribe(f.id)
	other, stopOther := w.Subscribe(g.id)
	defer stopFirst()
	defer stopSecond()
	defer stopOther()
	w.Changed(f.id)
	same(t, "woken", []bool{woken(first), woken(second), woken(other)}, []bool{true, true, false})
	w.Changed(f.id)
	same(t, "woken again", []bool{woken(first), woken(second), woken(other)}, []bool{true, true, false})
}

func laggingReader(t *testing.T, w ports.Watch) {
	f := newFlow(1)
	changes, stop := w.Subscribe(f.id)
	defer stop()
	for range 1000 {
		w.Changed(f.id)
	}
	same(t, "woken", woken(changes), true)
}

func stoppedReader(t *testing.T, w ports.Watch) {
	f := newFlow(1)
	changes, stop := w.Subscribe(f.id)
	stop()
	stop()
	w.Changed(f.id)
	same(t, "woken", woken(changes), false)
}

func busyWatch(t *testing.T, w ports.Watch) {
	f := newFlow(1)
	together(16, func(n int) error {
		for range 200 {
			if n%2 == 0 {
				w.Changed(f.id)
				continue
			}
			changes, stop := w.Subscribe(f.id)
			woken(changes)
			stop()
		}
		return nil
	})
	changes, stop := w.Subscribe(f.id)
	defer stop()
	w.Changed(f.id)
	same(t, "woken", woken(changes), true)
}
