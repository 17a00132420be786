package gormstore

import (
	"context"
	"time"

	"aion/domain/history"
)

// keysBetween is how many starts with a key lie between two looks for dead keys.
const keysBetween = 32

const sqlKeysExpireMany = `DELETE FROM idempotency_keys WHERE (scope, key) IN
	(SELECT scope, key FROM idempotency_keys WHERE expires_at <= ? ORDER BY expires_at LIMIT 128)`

// expireKeys takes dead keys away, on Postgres in a transaction of its own: several servers want the same ones. What fails
// is done the next time.
func (s *Store) expireKeys(ctx context.Context, commits []history.Commit, now time.Time) {
	if s.postgres == nil {
		return
	}
	n := int64(0)
	for i := range commits {
		if commits[i].Started != nil {
			n++
		}
	}
	if after := s.postgres.starts.Add(n); after/keysBetween == (after-n)/keysBetween {
		return
	}
	_ = s.write.transaction(ctx, func(t *tx) error { return t.send(sqlKeysExpireMany, micros(now)) })
}
