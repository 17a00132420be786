package authoring_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aion/adapters/memory"
	"aion/application/authoring"
	"aion/application/deployments"
	"aion/domain"
	"aion/test/fake"
)

// adjusted is a clock that somebody sets, also back.
type adjusted struct {
	*fake.Clock
	by time.Duration
}

func (c *adjusted) Now() time.Time { return c.Clock.Now().Add(c.by) }

// server 6: pages give each text of a document once, also when its present file is older than what it was before.
func TestTextsAreListedOnceWhateverTheirTimes(t *testing.T) {
	t.Parallel()
	clock := &adjusted{Clock: fake.NewClock(time.Time{})}
	store, documents := memory.New(clock), memory.NewDocuments(clock)
	s := authoring.New(authoring.Deps{
		Documents: documents, Revisions: documents, Clock: clock, IDs: fake.NewIDs(),
		Deployments: deployments.New(deployments.Deps{Store: store, Routes: store, Index: store, Clock: clock}),
	})
	for i, text := range []string{"a", "bb", "ccc", "dddd"} {
		clock.by = []time.Duration{2 * time.Hour, 0, 4 * time.Hour, time.Hour}[i]
		if _, err := s.Save(t.Context(), operator, authoring.SaveRequest{Path: "x.awl", Source: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	var sizes []int64
	for after := (*authoring.RevisionPosition)(nil); ; {
		list, next, err := s.History(t.Context(), operator, "x.awl", after, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list {
			sizes = append(sizes, one.Bytes)
		}
		if next == nil || len(sizes) > 10 {
			break
		}
		after = next
	}
	if d := cmp.Diff([]int64{3, 1, 4, 2}, sizes); d != "" {
		t.Error(d)
	}
}

// What is no content hash is the hash of nothing; nobody is asked for it.
func TestAnIllFormedHashIsOfNoRevision(t *testing.T) {
	t.Parallel()
	nobody := authoring.New(authoring.Deps{}) // it has no store to ask
	hash := strings.Repeat("0123456789abcdef", 4)
	for _, h := range []string{"", "x", hash[1:], hash + "0", strings.ToUpper(hash), hash + "\n", "../" + hash[3:], strings.Repeat("é", 32)} {
		_, err := nobody.Revision(t.Context(), operator, h)
		wantRefusal(t, err, domain.CodeNotFound, "RevisionNotFound")
	}
}

// A reader that has gone ends the walk over the documents.
func TestAReaderThatHasGoneReadsNoDocuments(t *testing.T) {
	t.Parallel()
	clock := fake.NewClock(time.Time{})
	store, documents := memory.New(clock), memory.NewDocuments(clock)
	s := authoring.New(authoring.Deps{
		Documents: documents, Revisions: documents, Clock: clock, IDs: fake.NewIDs(),
		Deployments: deployments.New(deployments.Deps{Store: store, Routes: store, Index: store, Clock: clock}),
	})
	if _, err := s.Save(t.Context(), operator, authoring.SaveRequest{Path: "x.awl", Source: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	ctx, leave := context.WithCancelCause(t.Context())
	leave(gone)
	if _, err := s.Page(ctx, operator, authoring.PageRequest{Query: "x", Limit: 1}); !errors.Is(err, gone) {
		t.Errorf("page: %v", err)
	}
	if _, _, err := s.History(ctx, operator, "x.awl", nil, 1); !errors.Is(err, gone) {
		t.Errorf("history: %v", err)
	}
	if _, err := s.Revision(ctx, operator, strings.Repeat("0", 64)); !errors.Is(err, gone) {
		t.Errorf("revision: %v", err)
	}
}
