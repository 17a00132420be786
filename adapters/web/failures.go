package web

import (
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"aion/domain"
)

// The wrong credentials of one address in a minute that are told what is wrong (server 1.13); further ones are told to
// wait. A good credential is never held up.
const (
	failuresPerMinute = 20
	maxAddresses      = 10_000
)

// failures counts wrong credentials by the address that they come from. It is safe for concurrent use.
type failures struct {
	mu      sync.Mutex
	windows map[netip.Prefix]window
}

type window struct {
	began time.Time
	count int
}

// add counts one more, and tells how long to wait when there were too many.
func (f *failures) add(from netip.Prefix, now time.Time) (wait time.Duration, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, known := f.windows[from]
	if !known && len(f.windows) >= maxAddresses {
		f.forget(now)
		if len(f.windows) >= maxAddresses {
			from = netip.Prefix{} // a flood from everywhere shares one window
			w = f.windows[from]
		}
	}
	if now.Sub(w.began) >= time.Minute || now.Before(w.began) {
		w = window{began: now}
	}
	if w.count < failuresPerMinute {
		w.count++
		f.windows[from] = w
		return 0, false
	}
	return w.began.Add(time.Minute).Sub(now), true
}

func (f *failures) forget(now time.Time) {
	for from, w := range f.windows {
		if now.Sub(w.began) >= time.Minute {
			delete(f.windows, from)
		}
	}
}

// address is where a request comes from: a host of IPv4, a network of IPv6, or the socket.
func address(r *http.Request) netip.Prefix {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := peer.Addr().Unmap().WithZone(""), 64
	if ip.Is4() {
		bits = 32
	}
	prefix, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}

func tooManyFailures(wait time.Duration) *domain.Error {
	return &domain.Error{
		Code: domain.CodeResourceExhausted, Type: "RateLimited",
		Message: fmt.Sprintf("more than %d wrong credentials came from your address within a minute; wait %d ms and send a valid one",
			failuresPerMinute, wait.Milliseconds()),
		Details: map[string]any{"retry_after_ms": wait.Milliseconds()},
	}
}
