package conformance

import (
	"fmt"
	"testing"
	"time"

	"aion/ports"
)

// AuditLog runs the suite of ports.AuditLog.
func AuditLog(t *testing.T, open func(testing.TB) ports.AuditLog) {
	run(t, open, map[string]func(*testing.T, ports.AuditLog){
		"records come back whole, in the order of adding": auditReturns,
	})
}

func auditReturns(t *testing.T, s ports.AuditLog) {
	none, err := s.AuditRecords(t.Context(), 0, 10)
	same(t, "an empty log", must(t, none, err), []ports.AuditRecord(nil))
	var want []ports.AuditRecord
	for n := range 5 {
		r := ports.AuditRecord{
			At: start.Add(time.Duration(5-n) * time.Second), Subject: "ada é\x00", Mode: "token", Source: "header", Surface: "mcp", Action: "start_run",
			Namespace: "default", Target: fmt.Sprint("<", n, ">"), Outcome: "ok", RequestID: "r",
		}
		if err := s.Audit(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		r.N = int64(n) + 1
		want = append(want, r)
	}
	all, err := s.AuditRecords(t.Context(), 0, 10)
	same(t, "all", must(t, all, err), want)
	some, err := s.AuditRecords(t.Context(), 2, 2)
	same(t, "a page", must(t, some, err), want[2:4])
	past, err := s.AuditRecords(t.Context(), 5, 10)
	same(t, "past the end", must(t, past, err), []ports.AuditRecord(nil))
}
