package httpapi_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"aion/adapters/auth"
	"aion/adapters/httpapi"
	"aion/adapters/memory"
	"aion/adapters/system"
	"aion/adapters/web"
	"aion/application/authoring"
	"aion/application/deployments"
	"aion/test/fake"
)

// server 20: of more texts than the server judges and keeps waiting one is sent away, and told when to come back.
func TestOneTextTooManyIsSentAway(t *testing.T) {
	t.Parallel()
	most := 2*runtime.GOMAXPROCS(0) + 64
	release := make(chan struct{})
	var held []fake.Fault
	for n := range most {
		held = append(held, fake.Fault{Op: "Routed", Call: n + 1, Hold: release})
	}
	store := fake.NewStore(memory.New(system.Clock{}))
	store.Script(held...)
	hosts, err := web.NewHosts("", nil)
	if err != nil {
		t.Fatal(err)
	}
	catalogue := deployments.New(deployments.Deps{Store: store, Routes: store, Index: store, Clock: system.Clock{}})
	documents := memory.NewDocuments(system.Clock{})
	host := web.New(web.Config{Hosts: hosts}, web.NewHealth(), fake.NewIDs(), slog.New(slog.DiscardHandler))
	httpapi.New(httpapi.Options{
		Authoring:   authoring.New(authoring.Deps{Documents: documents, Revisions: documents, Deployments: catalogue, Clock: system.Clock{}, IDs: system.IDs{}}),
		Deployments: catalogue, Callers: web.NewCallers(web.Door{Auth: auth.Off{}}), Hosts: hosts, Clock: system.Clock{},
	}).Mount(host.Router())
	body := encode(t, map[string]string{"source": hello})
	replies := make(chan *httptest.ResponseRecorder, most+1)
	for range most + 1 {
		go func() {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/api/v1/deployments", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			host.ServeHTTP(w, r)
			replies <- w
		}()
	}
	next := func() *httptest.ResponseRecorder {
		select {
		case w := <-replies:
			return w
		case <-time.After(time.Minute):
			t.Fatal("no answer")
		}
		return nil
	}
	first := next()
	if first.Code != http.StatusTooManyRequests || first.Header().Get("Retry-After") != "1" || !strings.Contains(first.Body.String(), `"error_type":"RateLimited"`) {
		t.Errorf("%d %v %s", first.Code, first.Header(), first.Body)
	}
	close(release)
	seen := map[int]int{}
	for range most {
		seen[next().Code]++
	}
	if fresh := seen[http.StatusCreated]; fresh == 0 || fresh+seen[http.StatusOK] != most {
		t.Error(fmt.Sprint(seen))
	}
}
