package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aion/adapters/gormstore"
	"aion/adapters/system"
	"aion/application/transcripts"
	"aion/domain/transcript"
)

// actions 32: a command that prints 10 MB a second, on the real store. Each of its lines is stored, or counted in a gap.
// AION_SOAK makes it a minute.
//
//nolint:paralleltest // it needs the machine
func TestAFastCommandIsStoredWholeOrWithCountedGaps(t *testing.T) {
	seconds := 3
	if _, soak := trees(); soak {
		seconds = 60
	}
	dir := t.TempDir()
	store, err := gormstore.Open(t.Context(), gormstore.Options{Path: filepath.Join(private(t), "aion.db"), Clock: system.Clock{}, Readers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	publisher := transcripts.NewPublisher(store, system.NewWatch(), system.Clock{}, slog.New(slog.DiscardHandler),
		transcripts.Bounds{MaxEvents: 1 << 40, MaxBytes: 1 << 50})
	block := strings.Repeat(strings.Repeat("x", 999)+"\n", 1000)
	write(t, filepath.Join(dir, "block"), block, 0o600)
	x := open(t)
	e := run(fmt.Sprintf(`sh -c 'i=0; while [ $i -lt %d ]; do cat %s/block; sleep 0.09; i=$((i+1)); done'`, 10*seconds, dir))
	stream := publisher.Open(context.Background(), e.Dispatch.Key, false)
	began := time.Now()
	got := text(x.Execute(t.Context(), e, stream))
	took := time.Since(began)
	stream.Close()
	if !strings.Contains(got, fmt.Sprintf("stdout cut: 1048576 of %d bytes kept", 10*seconds*len(block))) {
		t.Errorf("got %.200s", got)
	}
	var stored, missing, gaps int
	next := int64(0)
	for more := true; more; {
		records, head, err := store.Records(t.Context(), e.Dispatch.Key, next, 5000)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.StoreSeq != next {
				t.Fatalf("store_seq %d where %d belongs", r.StoreSeq, next)
			}
			next++
			if r.Kind == transcript.Message {
				stored++
				continue
			}
			var d struct {
				Status string
				Lines  int
			}
			if err := json.Unmarshal(r.Detail, &d); err != nil || d.Status != "gap" {
				t.Errorf("%s, %v", r.Detail, err)
			}
			missing, gaps = missing+d.Lines, gaps+1
		}
		more = next < head
	}
	if want := 10 * seconds * 1000; stored+missing != want {
		t.Errorf("%d lines are stored and %d counted as missing, of %d", stored, missing, want)
	}
	t.Logf("%d MB in %s: %d lines stored, %d missing in %d gaps", 10*seconds, took.Round(time.Millisecond), stored, missing, gaps)
}

// private is a directory that a store accepts.
func private(t *testing.T) string {
	t.Helper()
	return mkdir(t, filepath.Join(t.TempDir(), "store"))
}
