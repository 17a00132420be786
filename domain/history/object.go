package history

import (
	"encoding/json"
	"sort"
	"strconv"
	"time"

	"aion/domain"
	"aion/domain/action"
)

// object writes canonical JSON by hand: the append path uses no reflection.
type object struct {
	buf   []byte
	first bool
	check bool   // payloads are looked at
	wrong string // the first one that is no JSON
}

func (o *object) open()  { o.buf = append(o.buf, '{'); o.first = true }
func (o *object) close() { o.buf = append(o.buf, '}'); o.first = false }

func (o *object) key(k string) {
	if !o.first {
		o.buf = append(o.buf, ',')
	}
	o.first = false
	o.buf = domain.AppendText(o.buf, k)
	o.buf = append(o.buf, ':')
}

func (o *object) text(k, v string)      { o.key(k); o.buf = domain.AppendText(o.buf, v) }
func (o *object) int(k string, v int64) { o.key(k); o.buf = strconv.AppendInt(o.buf, v, 10) }
func (o *object) bool(k string, v bool) { o.key(k); o.buf = strconv.AppendBool(o.buf, v) }

func (o *object) raw(k string, v []byte) {
	o.key(k)
	if v == nil {
		v = []byte("null")
	}
	if o.check && o.wrong == "" && !json.Valid(v) {
		o.wrong = k
	}
	o.buf = append(o.buf, v...)
}

func (o *object) time(k string, v time.Time) {
	o.key(k)
	o.buf = append(o.buf, '"')
	o.buf = v.UTC().AppendFormat(o.buf, TimeLayout)
	o.buf = append(o.buf, '"')
}

// What has nothing to say is left out.

func (o *object) textIf(k, v string) {
	if v != "" {
		o.text(k, v)
	}
}

func (o *object) rawIf(k string, v []byte) {
	if v != nil {
		o.raw(k, v)
	}
}

func (o *object) timeIf(k string, v time.Time) {
	if !v.IsZero() {
		o.time(k, v)
	}
}

func (o *object) nullable(k string, v *string) {
	if v == nil {
		o.raw(k, nil)
		return
	}
	o.text(k, *v)
}

func (o *object) texts(k string, m map[string]string) {
	o.key(k)
	o.open()
	keys := make([]string, 0, len(m))
	for name := range m {
		keys = append(keys, name)
	}
	sort.Strings(keys)
	for _, name := range keys {
		o.text(name, m[name])
	}
	o.close()
}

func (o *object) retry(k string, r action.Retry) {
	o.key(k)
	o.open()
	o.key("backoff")
	o.open()
	if r.Backoff.Kind == "fixed" {
		o.int("delay_ms", r.Backoff.DelayMS)
		o.text("kind", r.Backoff.Kind)
	} else {
		o.int("initial_ms", r.Backoff.InitialMS)
		o.text("kind", r.Backoff.Kind)
		o.int("max_ms", r.Backoff.MaxMS)
		o.key("multiplier")
		o.buf = strconv.AppendFloat(o.buf, r.Backoff.Multiplier, 'g', -1, 64)
	}
	o.close()
	o.int("max_attempts", int64(r.MaxAttempts))
	o.close()
}
