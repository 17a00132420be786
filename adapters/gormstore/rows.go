package gormstore

import (
	"database/sql/driver"
	"encoding/json"
	"time"
)

// micros is how a time is stored: microseconds since 1970, 0 for none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// blob keeps the difference between absent (nil) and empty.
func blob(b []byte) driver.Value {
	if b == nil {
		return nil
	}
	return b
}

// encodeLabels writes nothing when there is nothing; it is only called once per run.
func encodeLabels(labels map[string]string) (driver.Value, error) {
	if labels == nil {
		return nil, nil //nolint:nilnil // NULL is the value
	}
	return json.Marshal(labels)
}
