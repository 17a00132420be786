package gormstore

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Each statement is written once, for SQLite, and Postgres takes it with three changes: what stands in a comment `/*pg …*/`
// is for Postgres, `INDEXED BY` is for SQLite, and a placeholder is `$n` instead of `?` or `+?`.

// forUpdate lets nobody else change the rows that a transaction has read; on SQLite nobody else writes.
const forUpdate = ` /*pg FOR UPDATE*/`

var (
	onlyPostgres = regexp.MustCompile(`/\*pg (.*?)\*/`)
	onlySQLite   = regexp.MustCompile(` INDEXED BY \w+`)
)

// dialect turns statements into those of Postgres, each once. The statements are constants, so that it is bounded.
type dialect struct {
	reading sync.Map // as gorm takes them: it numbers the placeholders
	writing sync.Map
}

func (d *dialect) read(query string) string {
	if text, ok := d.reading.Load(query); ok {
		return text.(string)
	}
	text := strings.ReplaceAll(onlySQLite.ReplaceAllString(onlyPostgres.ReplaceAllString(query, "$1"), ""), "+?", "?")
	d.reading.Store(query, text)
	return text
}

func (d *dialect) write(query string) string {
	if text, ok := d.writing.Load(query); ok {
		return text.(string)
	}
	var b strings.Builder
	n := 0
	for part := range strings.SplitSeq(d.read(query), "?") {
		if n > 0 {
			b.WriteString("$" + strconv.Itoa(n))
		}
		b.WriteString(part)
		n++
	}
	d.writing.Store(query, b.String())
	return b.String()
}
