package gormstore

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"aion/domain"
)

// loadedRows is how many rows one transaction of Load holds, and loadedBytes how much.
const (
	loadedRows  = 500
	loadedBytes = 8 << 20
)

// loadedRow is a row of a backup, as it is inserted.
type loadedRow struct {
	table *loading
	args  []driver.Value
}

// loading is how the rows of a table are inserted.
type loading struct {
	dumped
	insert string
	shard  int // the place of the column that tells the shard; -1: there is none
	many   bool
}

// Load implements ports.DumpStore.
func (s *Store) Load(ctx context.Context, next func() (table string, line []byte, err error)) error {
	if err := s.empty(ctx); err != nil {
		return err
	}
	tables := map[string]*loading{}
	for _, d := range dumpedTables() {
		tables[d.name] = s.loading(d)
	}
	for {
		rows, err := some(tables, next)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		failed := s.write.transaction(ctx, func(t *tx) error {
			for _, r := range rows {
				if err := t.send(r.table.insert, r.args...); err != nil {
					return err
				}
			}
			return t.flush()
		})
		switch {
		case failed != nil:
			return failed
		case err != nil:
			return s.countOn(ctx)
		}
	}
}

// some reads the rows of one transaction; io.EOF comes with the last ones.
func some(tables map[string]*loading, next func() (table string, line []byte, err error)) (rows []loadedRow, err error) {
	for size := 0; len(rows) < loadedRows && size < loadedBytes; {
		name, line, err := next()
		if err != nil {
			return rows, err
		}
		l := tables[name]
		if l == nil {
			return nil, brokenRow(name, "there is no such table")
		}
		args, err := l.args(line)
		if err != nil {
			return nil, err
		}
		rows, size = append(rows, loadedRow{l, args}), size+len(line)
	}
	return rows, nil
}

// empty refuses a store that holds something.
func (s *Store) empty(ctx context.Context) error {
	for _, d := range dumpedTables() {
		var n int64
		if err := s.write.transaction(ctx, func(t *tx) error {
			row := make([]driver.Value, 1)
			found, err := t.row(row, `SELECT 1 FROM `+d.name+` LIMIT 1`)
			if found {
				n = 1
			}
			return err
		}); err != nil {
			return err
		}
		if n > 0 {
			return &domain.Error{
				Code: domain.CodeInvalidState, Type: "StoreNotEmpty",
				Message: fmt.Sprintf("the store holds data already (in table %s), and a backup is restored into an empty one; name another store, or pass --replace to move this one aside", d.name),
			}
		}
	}
	return nil
}

// countOn lets the numbers that Postgres gives begin behind those of the backup.
func (s *Store) countOn(ctx context.Context) error {
	if s.postgres == nil {
		return nil
	}
	return s.write.transaction(ctx, func(t *tx) error {
		for _, c := range [][2]string{{"outbox", "n"}, {"transcript_streams", "id"}, {"audit_log", "id"}} {
			if err := t.script(fmt.Sprintf(`SELECT setval(pg_get_serial_sequence('%[1]s', '%[2]s'), coalesce(max(%[2]s), 1), max(%[2]s) IS NOT NULL) FROM %[1]s`, c[0], c[1])); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) loading(d dumped) *loading {
	l := &loading{dumped: d, shard: -1, many: s.postgres != nil}
	columns := strings.Join(d.columns, ", ")
	width := len(d.columns)
	if key := map[string]string{"timers": "workflow_id", "outbox": "workflow_id", "schedules": "uid"}[d.name]; l.many && key != "" {
		columns, width = columns+", shard", width+1
		l.shard = slices.Index(d.columns, key)
	}
	l.insert = `INSERT INTO ` + d.name + ` (` + columns + `) VALUES (?` + strings.Repeat(`, ?`, width-1) + `)`
	return l
}

// args reads a row; it has every column of its table and no other.
func (l *loading) args(line []byte) ([]driver.Value, error) {
	var members map[string]any
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	if err := dec.Decode(&members); err != nil || dec.InputOffset() != int64(len(line)) {
		return nil, brokenRow(l.name, "a line is no JSON object")
	}
	if len(members) != len(l.columns) {
		return nil, brokenRow(l.name, fmt.Sprintf("a row has %d columns where %d are known; restore it with the version that made it", len(members), len(l.columns)))
	}
	args := make([]driver.Value, 0, len(l.columns)+1)
	for _, c := range l.columns {
		v, there := members[c]
		if !there {
			return nil, brokenRow(l.name, "a row lacks the column "+c)
		}
		arg, err := l.value(c, v)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	if l.shard >= 0 {
		id, _ := args[l.shard].(string)
		args = append(args, int64(domain.WorkflowID(id).Shard()))
	}
	return args, nil
}

func (l *loading) value(column string, v any) (driver.Value, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil //nolint:nilnil // NULL is the value
	case json.Number:
		n, err := v.Int64()
		if err != nil {
			return nil, brokenRow(l.name, "column "+column+" holds no whole number")
		}
		if column == "flag" {
			return n != 0, nil
		}
		return n, nil
	case string:
		if !isBlob(column) {
			return unpacked(v), nil
		}
		body, err := base64.StdEncoding.Strict().DecodeString(v)
		if err != nil {
			return nil, brokenRow(l.name, "column "+column+" is no base64")
		}
		return body, nil
	}
	return nil, brokenRow(l.name, "column "+column+" holds neither text nor number")
}

func brokenRow(table, how string) error {
	return &domain.Error{
		Code: domain.CodeInvalidInput, Type: "BackupBroken",
		Message: fmt.Sprintf("the rows of table %s cannot be restored: %s", domain.Quote(table, 64), how),
	}
}
