package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"aion/domain"
	"aion/domain/deployment"
	"aion/ports"
)

// Deployments is a store of versions with the list of its routes.
type Deployments interface {
	ports.DeploymentStore
	ports.RouteStore
}

// DeploymentStore runs the suite of ports.DeploymentStore and ports.RouteStore.
func DeploymentStore(t *testing.T, open func(testing.TB) Deployments) {
	run(t, open, map[string]func(*testing.T, Deployments){
		"what was never deployed is not found":                noVersion,
		"a version comes back whole and is routed":            versionReturns,
		"deploying a hash again keeps the version and routes": sameVersionAgain,
		"routes move to stored versions of their type":        routes,
		"versions are listed newest first, without contents":  versionLists,
		"a routed version is not removed":                     removal,
		"20 parallel deploys of one version: one is fresh":    oneFresh,
	})
}

func version(n int) deployment.Version {
	return deployment.Version{
		DeploymentID: id(n), WorkflowType: "ship", ContentHash: hash(n), DocumentPath: "ship.awl",
		Source: "// ship\nworkflow Ship\x00\xff", Imports: map[string]string{"a.json": "{\"x\": \"<\xff>\"}", "empty.json": ""},
		Plan: json.RawMessage(`{"plan_format": 1, "n":9007199254740993}`), DeployedAt: start.Add(time.Duration(n) * time.Second), DeployedBy: fmt.Sprint("author ", n),
	}
}

func put(t *testing.T, s ports.DeploymentStore, v deployment.Version, wantFresh bool) deployment.Version {
	t.Helper()
	stored, fresh, err := s.PutVersion(t.Context(), v)
	must(t, stored, err)
	same(t, "fresh", fresh, wantFresh)
	return stored
}

// Reroute moves a route as somebody who does not ask where it led before.
func Reroute(ctx context.Context, s ports.DeploymentStore, workflowType, contentHash string, at time.Time) error {
	_, err := s.SetRoute(ctx, deployment.Route{WorkflowType: workflowType, ContentHash: contentHash, RoutedAt: at})
	return err
}

func routed(t *testing.T, s ports.DeploymentStore, workflowType string) deployment.Version {
	t.Helper()
	v, err := s.Routed(t.Context(), workflowType)
	return must(t, v, err)
}

func noVersion(t *testing.T, s Deployments) {
	_, err := s.Routed(t.Context(), "ship")
	wantCode(t, err, domain.CodeNotFound, "WorkflowTypeNotFound")
	_, err = s.Version(t.Context(), hash(1))
	wantCode(t, err, domain.CodeNotFound, "VersionNotFound")
	wantCode(t, Reroute(t.Context(), s, "ship", hash(1), start), domain.CodeNotFound, "VersionNotFound")
	wantCode(t, s.DeleteVersion(t.Context(), "ship", hash(1), nil), domain.CodeNotFound, "VersionNotFound")
	all, err := s.Versions(t.Context(), "")
	same(t, "versions", must(t, all, err), []deployment.Version(nil))
	none, err := s.Routes(t.Context())
	same(t, "routes", len(must(t, none, err)), 0)
}

func versionReturns(t *testing.T, s Deployments) {
	v := version(1)
	same(t, "the answer", put(t, s, v, true), v)
	same(t, "routed", routed(t, s, "ship"), v)
	got, err := s.Version(t.Context(), v.ContentHash)
	same(t, "by hash", must(t, got, err), v)
	bare := version(2)
	bare.Imports, bare.DocumentPath = nil, ""
	same(t, "without imports", put(t, s, bare, true), bare)
	same(t, "routed", routed(t, s, "ship"), bare)
}

func sameVersionAgain(t *testing.T, s Deployments) { // engine 16
	first := version(1)
	put(t, s, first, true)
	put(t, s, version(2), true)
	again := version(1)
	again.DeploymentID, again.DocumentPath, again.DeployedAt = id(99), "elsewhere.awl", start.Add(time.Hour)
	same(t, "the answer", put(t, s, again, false), first)
	same(t, "routed", routed(t, s, "ship"), first)
}

func routes(t *testing.T, s Deployments) { // engine 16
	put(t, s, version(1), true)
	put(t, s, version(2), true)
	other := version(3)
	other.WorkflowType = "other"
	put(t, s, other, true)
	list, err := s.Routes(t.Context())
	same(t, "routes", must(t, list, err), []deployment.Route{
		{WorkflowType: "other", ContentHash: hash(3), RoutedAt: other.DeployedAt}, {WorkflowType: "ship", ContentHash: hash(2), RoutedAt: version(2).DeployedAt, Previous: hash(1)},
	})
	for _, previous := range []string{hash(2), hash(1)} { // the second one changes nothing
		got, err := s.SetRoute(t.Context(), deployment.Route{WorkflowType: "ship", ContentHash: hash(1), RoutedAt: start})
		same(t, "the route before", must(t, got, err), previous)
	}
	list, err = s.Routes(t.Context())
	same(t, "the moved route", must(t, list, err)[1], deployment.Route{WorkflowType: "ship", ContentHash: hash(1), RoutedAt: start, Previous: hash(2)})
	same(t, "routed", routed(t, s, "ship"), version(1))
	same(t, "the other type", routed(t, s, "other"), other)
	wantCode(t, Reroute(t.Context(), s, "ship", hash(3), start), domain.CodeNotFound, "VersionNotFound")
	same(t, "routed", routed(t, s, "ship"), version(1))
}

func versionLists(t *testing.T, s Deployments) {
	var ship, all []deployment.Version
	for n := range 9 {
		v := version(n)
		if n%3 == 0 {
			v.WorkflowType = "other"
		}
		v.DeployedAt = start.Add(time.Duration(n/2) * time.Second)
		put(t, s, v, true)
		v.Source, v.Imports, v.Plan = "", nil, nil
		all = append([]deployment.Version{v}, all...)
		if n%3 != 0 {
			ship = append([]deployment.Version{v}, ship...)
		}
	}
	got, err := s.Versions(t.Context(), "")
	same(t, "all", must(t, got, err), all)
	got, err = s.Versions(t.Context(), "ship")
	same(t, "of one type", must(t, got, err), ship)
	got, err = s.Versions(t.Context(), "unknown")
	same(t, "of an unknown type", must(t, got, err), []deployment.Version(nil))
}

func removal(t *testing.T, s Deployments) { // engine 16
	put(t, s, version(1), true)
	put(t, s, version(2), true)
	wantCode(t, s.DeleteVersion(t.Context(), "ship", hash(2), nil), domain.CodeVersionPinned, "RouteActive")
	wantCode(t, s.DeleteVersion(t.Context(), "other", hash(1), nil), domain.CodeNotFound, "VersionNotFound")
	if err := s.DeleteVersion(t.Context(), "ship", hash(1), nil); err != nil {
		t.Fatal(err)
	}
	_, err := s.Version(t.Context(), hash(1))
	wantCode(t, err, domain.CodeNotFound, "VersionNotFound")
	same(t, "routed", routed(t, s, "ship"), version(2))
	put(t, s, version(1), true)
}

func oneFresh(t *testing.T, s Deployments) {
	fresh := make([]bool, 20)
	for _, err := range together(len(fresh), func(n int) error {
		_, f, err := s.PutVersion(t.Context(), version(1))
		fresh[n] = f
		return err
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	count := 0
	for _, f := range fresh {
		if f {
			count++
		}
	}
	same(t, "fresh answers", count, 1)
}
