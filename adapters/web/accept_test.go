package web_test

import (
	"net/http"
	"testing"

	"aion/adapters/web"
)

func TestAcceptsFollowsTheMostSpecificRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		accept        []string
		admits, named bool
	}{
		{nil, true, false},
		{[]string{""}, true, false},
		{[]string{" , "}, true, false},
		{[]string{"*/*"}, true, false},
		{[]string{"*/*;q=0"}, false, false},
		{[]string{"text/event-stream"}, true, true},
		{[]string{"TEXT/Event-Stream ; q=0.001"}, true, true},
		{[]string{"text/event-stream;q=0"}, false, false},
		{[]string{"text/*"}, true, true},
		{[]string{"text/*, text/event-stream;q=0"}, false, false},
		{[]string{"text/event-stream;q=0, */*"}, false, false},
		{[]string{"text/html", "text/event-stream"}, true, true},
		{[]string{"text/html"}, false, false},
		{[]string{"text/event-stream;q=x"}, true, true},
		{[]string{"text/event-stream;q=0, text/event-stream"}, true, true},
	} {
		r := &http.Request{Header: http.Header{"Accept": c.accept}}
		if got := web.Accepts(r, "text/event-stream"); got != c.admits {
			t.Errorf("%q: admits %v", c.accept, got)
		}
		if got := web.AcceptsByName(r, "text/event-stream"); got != c.named {
			t.Errorf("%q: by name %v", c.accept, got)
		}
	}
}
