package gormstore_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"aion/test/postgres"
)

var placeholder = regexp.MustCompile(`\$(\d+)`)

// Postgres reads a small table whole whatever indexes it has, so it is told that this, and sorting, are dear: what is left of
// them in a plan has no index.
func TestEveryStatementUsesAnIndexOnPostgres(t *testing.T) { // engine 18
	t.Parallel()
	dsn := postgres.Database(t)
	s := mustOpenPostgres(t, postgresOptions(t, dsn))
	var mu sync.Mutex
	statements := map[string]bool{}
	s.TraceReads(func(query string) {
		mu.Lock()
		defer mu.Unlock()
		statements[query] = true
	})
	everyCall(t, s)
	for _, q := range s.PostgresQueries() {
		statements[q] = true
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	const dear = `SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off; SET enable_hashagg = off; SET plan_cache_mode = force_generic_plan`
	if _, err := conn.Exec(t.Context(), dear, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	n := 0
	for q := range statements {
		if !planned.MatchString(q) || strings.Contains(q, "pg_notify") {
			continue
		}
		n++
		steps := postgresPlan(t, conn, fmt.Sprint("p", n), q)
		// Of leases there is a handful, of locks a few dozen, and of chains one for each start of a server. Whoever reads the
		// metrics groups what waits at that time.
		handful := strings.Contains(q, "FROM leases") || strings.Contains(q, "INTO locks")
		grouped := strings.Contains(q, "GROUP BY namespace, task_queue") || strings.Contains(q, "ORDER BY h.chain")
		// The heads of a group are held in the order of their ids.
		grouped = grouped || strings.Contains(q, "ORDER BY id FOR UPDATE")
		// What is posted is delivered at once.
		handful = handful || strings.Contains(q, "NOT IN (SELECT workflow_id FROM outbox)") && strings.Count(steps, "Seq Scan") == 1
		if strings.Contains(steps, "Seq Scan") && !handful || strings.Contains(steps, "  Sort") && !grouped || strings.HasPrefix(steps, "Sort") && !grouped {
			t.Errorf("the plan of\n%s\nis\n%s", q, steps)
		}
	}
	if n < 60 {
		t.Errorf("only %d statements were seen", n)
	}
}

func postgresPlan(t *testing.T, conn *pgx.Conn, name, query string) string {
	t.Helper()
	args := 0
	for _, m := range placeholder.FindAllStringSubmatch(query, -1) {
		var n int
		_, _ = fmt.Sscan(m[1], &n)
		args = max(args, n)
	}
	explain := "EXPLAIN " + query
	if args > 0 {
		if _, err := conn.Exec(t.Context(), "PREPARE "+name+" AS "+query, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%v: %s", err, query)
		}
		explain = "EXPLAIN EXECUTE " + name + "(NULL" + strings.Repeat(", NULL", args-1) + ")"
	}
	rows, err := conn.Query(t.Context(), explain, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatalf("%v: %s", err, query)
	}
	steps, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%v: %s", err, query)
	}
	return strings.Join(steps, "\n")
}
