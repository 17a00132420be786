package deployments_test

import (
	"context"
	"testing"
	"time"

	"aion/adapters/memory"
	"aion/application/deployments"
	"aion/domain/access"
	"aion/domain/deployment"
	"aion/test/fake"
)

// busy is a store in which something is deployed between any two readings of a list.
type busy struct {
	*memory.Store
	between func()
}

func (b busy) Versions(ctx context.Context, workflowType string) ([]deployment.Version, error) {
	defer b.between()
	return b.Store.Versions(ctx, workflowType)
}

func (b busy) Routes(ctx context.Context) ([]deployment.Route, error) {
	defer b.between()
	return b.Store.Routes(ctx)
}

// server 1.9: a type that is listed has the version that its new runs get, whatever is deployed, routed and unloaded meanwhile.
func TestTypesAreListedWholeWhileOthersAreDeployed(t *testing.T) {
	t.Parallel()
	for name, sameType := range map[string]bool{"other types come": false, "the version is replaced": true} {
		clock, ids := fake.NewClock(time.Time{}), fake.NewIDs()
		store := memory.New(clock)
		last := ""
		deploy := func() {
			id := ids.UUIDv7()
			v := deployment.Version{DeploymentID: id, WorkflowType: "t" + id, ContentHash: id}
			if sameType {
				v.WorkflowType = "t"
			}
			if _, _, err := store.PutVersion(t.Context(), v); err != nil {
				t.Fatal(err)
			}
			if sameType && last != "" {
				if err := store.DeleteVersion(t.Context(), v.WorkflowType, last, nil); err != nil {
					t.Fatal(err)
				}
			}
			last = id
		}
		deploy()
		b := busy{store, deploy}
		s := deployments.New(deployments.Deps{Store: b, Routes: b, Index: store, Clock: clock})
		list, _, err := s.ListTypes(t.Context(), access.Operator(""), "", 10)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %+v, %v", name, list, err)
		}
		for _, one := range list {
			if one.Versions != 1 || one.Routed.ContentHash == "" || one.Routed.WorkflowType == "" {
				t.Errorf("%s: %+v", name, one)
			}
		}
	}
}
