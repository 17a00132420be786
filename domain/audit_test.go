package domain_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"aion/domain"
)

// chained is a log of some records in two chains; the second one begins with the head of the first.
func chained() []domain.AuditRecord {
	at := time.Date(2026, time.January, 2, 3, 4, 5, 678_901_234, time.UTC)
	var log []domain.AuditRecord
	head := domain.AuditHead{}
	for n := range 12 {
		r := domain.AuditRecord{
			Subject: "ada", Mode: "token", Source: "header", Surface: "mcp", Action: "run.start", Namespace: "a", Target: fmt.Sprint(n), Outcome: domain.AuditOK,
			Code: "c", RequestID: "r", Remote: "192.0.2.1:1", Detail: domain.AuditDetail(map[string]any{"bytes": n, "text": "<&>"}),
		}
		switch n {
		case 0:
			head = domain.AuditHead{Chain: "one"}
		case 6:
			r.Detail = domain.AuditDetail(map[string]any{"heads": []domain.AuditHead{head}})
			head = domain.AuditHead{Chain: "two"}
		}
		next := r.Follow(head, at.Add(time.Duration(n)*time.Second))
		next.Seq = int64(n) + 1
		head = next.Head()
		log = append(log, next)
	}
	return log
}

func verify(log []domain.AuditRecord) error {
	var trail domain.AuditTrail
	for _, r := range log {
		if err := trail.Add(r); err != nil {
			return err
		}
	}
	return nil
}

func TestWholeTrailHolds(t *testing.T) {
	t.Parallel()
	log := chained()
	if err := verify(log); err != nil {
		t.Error(err)
	}
	text, err := json.Marshal(log)
	if err != nil {
		t.Fatal(err)
	}
	var read []domain.AuditRecord
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if err := verify(read); err != nil {
		t.Errorf("read back: %v", err)
	}
}

// server 47
func TestAnyChangeRemovalOrSwapIsFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		log := chained()
		n := rapid.IntRange(0, len(log)-1).Draw(t, "record")
		what := ""
		switch how := rapid.IntRange(0, 2).Draw(t, "how"); how {
		case 0:
			fields := reflect.ValueOf(&log[n]).Elem()
			f := rapid.IntRange(1, fields.NumField()-1).Draw(t, "field") // 0 is Seq
			what = fields.Type().Field(f).Name
			switch field := fields.Field(f); {
			case field.CanInt():
				field.SetInt(field.Int() + 1)
			case field.Kind() == reflect.String:
				field.SetString(field.String() + "x")
			case field.Type() == reflect.TypeFor[time.Time]():
				field.Set(reflect.ValueOf(log[n].At.Add(time.Microsecond)))
			default:
				changed := rapid.SampledFrom([]string{"", "null", "{}", "nonsense", `{"bytes":99}`}).Draw(t, "detail")
				field.Set(reflect.ValueOf(domain.Payload(changed)))
			}
		case 1:
			what = "removal"
			if n == len(log)-1 {
				n-- // the end of the last chain is anchored where heads are kept
			}
			log = append(log[:n:n], log[n+1:]...)
		case 2:
			what = "swap"
			other := rapid.IntRange(0, len(log)-1).Draw(t, "other")
			if log[other].Chain != log[n].Chain || other == n {
				return
			}
			log[n], log[other] = log[other], log[n]
		}
		err := verify(log)
		if err == nil || !strings.Contains(err.Error(), "chain") {
			t.Errorf("%s of record %d: %v", what, n, err)
		}
	})
}

// What others write into a record is cut, and never breaks the log.
func TestHostileTextIsCut(t *testing.T) {
	t.Parallel()
	r := domain.AuditRecord{Subject: strings.Repeat("é", 1000), Target: "\xff\x00\n", RequestID: strings.Repeat("r", 1<<20)}.Follow(domain.AuditHead{Chain: "c"}, time.Now())
	if len([]rune(r.Subject)) > 256 || len(r.RequestID) > 300 || r.Target != "\uFFFD\x00\n" {
		t.Errorf("%+v", r)
	}
	if err := verify([]domain.AuditRecord{r}); err != nil {
		t.Error(err)
	}
}

// server 5.9: what a cut names may be gone, and nothing else.
func TestATrailHoldsWithoutWhatACutNames(t *testing.T) {
	t.Parallel()
	log := chained()
	head := log[len(log)-1].Head()
	cut := domain.AuditRecord{Action: domain.AuditCut, Detail: domain.AuditDetail(map[string]any{"heads": []domain.AuditHead{log[5].Head()}})}.Follow(head, log[11].At)
	whole := append(log, cut)
	verify := func(records []domain.AuditRecord) (int64, error) {
		var trail domain.AuditTrail
		for _, r := range records {
			trail.Cut(r)
		}
		for _, r := range records {
			if err := trail.Add(r); err != nil {
				return trail.Count(), err
			}
		}
		return trail.Count(), nil
	}
	for gone := range 7 { // of chain one, whose records go one by one
		if n, err := verify(whole[gone:]); n != 7 || err != nil {
			t.Errorf("without %d records: %d hold, %v", gone, n, err)
		}
	}
	if _, err := verify(whole[7:]); err == nil {
		t.Error("a record that no cut names is gone, and nobody sees it")
	}
	if _, err := verify(whole[6:12]); err == nil {
		t.Error("a chain is gone without a cut, and nobody sees it")
	}
}
