package gormstore

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/stdlib"
)

// Postgres keeps neither a NUL nor what is not UTF-8 in a text, and clients send both. Such a byte is stored as the
// control character SUB with two hexadecimal digits behind it; a SUB itself is, too, so that no two texts become one.
const sub = '\x1a'

func packed(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 && strings.IndexByte(s, sub) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || r == 0 || r == sub {
			b.WriteByte(sub)
			b.WriteString(hex.EncodeToString([]byte{s[0]}))
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

func unpacked(s string) string {
	i := strings.IndexByte(s, sub)
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexByte(s, sub) {
		b.WriteString(s[:i])
		if code, err := hex.DecodeString(s[min(i+1, len(s)):min(i+3, len(s))]); err == nil {
			b.Write(code)
		}
		s = s[min(i+3, len(s)):]
	}
	return b.String() + s
}

// toPostgres is a value as Postgres takes it: a text packed, words and numbers of our own types as plain ones.
func toPostgres(v any) any {
	switch v := v.(type) {
	case nil, int64, bool:
		return v
	case string:
		return packed(v)
	case []byte:
		if v == nil {
			return nil
		}
		return v
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.String:
		return packed(r.String())
	case reflect.Int:
		return r.Int()
	default:
		return v
	}
}

func fromPostgres(v any) any {
	switch v := v.(type) {
	case string:
		return unpacked(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	default:
		return v
	}
}

// readConnector gives the connections that gorm reads on: those of the pool, with texts packed and unpacked.
type readConnector struct{ driver.Connector }

// Connect implements driver.Connector.
func (c readConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return readConn{conn.(*stdlib.Conn)}, nil
}

type readConn struct{ *stdlib.Conn }

// QueryContext implements driver.QueryerContext.
func (c readConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	for i := range args {
		args[i].Value = toPostgres(args[i].Value)
	}
	rows, err := c.Conn.QueryContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return readRows{rows}, nil
}

type readRows struct{ driver.Rows }

// Next implements driver.Rows.
func (r readRows) Next(dest []driver.Value) error {
	if err := r.Rows.Next(dest); err != nil {
		return err
	}
	for i, v := range dest {
		dest[i] = fromPostgres(v)
	}
	return nil
}
