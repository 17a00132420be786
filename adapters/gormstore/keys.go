package gormstore

import "context"

// Dead keys are taken away a page at a time.
const (
	sqlKeysExpireMany = `DELETE FROM idempotency_keys WHERE (scope, key) IN
		(SELECT scope, key FROM idempotency_keys WHERE expires_at <= ? ORDER BY expires_at LIMIT 128)`
	keysExpired  = 128
	pagesExpired = 32 // at a time
)

// expireKeys takes dead keys away from a store that several servers write, with each renewal of a lease. What fails is done
// the next time.
func (s *Store) expireKeys(ctx context.Context) {
	for range pagesExpired {
		var gone int64
		err := s.write.transaction(ctx, func(t *tx) (err error) {
			gone, err = t.exec(sqlKeysExpireMany, micros(s.clock.Now()))
			return err
		})
		if err != nil || gone < keysExpired {
			return
		}
	}
}
