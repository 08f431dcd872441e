package remote

import (
	"context"
	"hash/maphash"
	"sync"
)

// upload counts what the backend sends for an object that is being written.
type upload struct {
	c    *counters
	seed maphash.Seed

	mu   sync.Mutex
	seen map[uint64]struct{} // digests of keys
}

type uploadKey struct{}

// withUpload returns the context of an object that a backend writes.
func (s *Store) withUpload(ctx context.Context) context.Context {
	return context.WithValue(ctx, uploadKey{}, &upload{c: &s.counters, seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}})
}

// CountRequest counts a request that a backend sends while it writes an object.
// ctx is that of Backend.Create, or one below it; requests with other contexts
// are not counted. A second request with the same key is a retry. sent is the
// number of bytes of the object in the request.
func CountRequest(ctx context.Context, key string, sent int64) {
	u, ok := ctx.Value(uploadKey{}).(*upload)
	if !ok {
		return
	}
	u.c.requests.Add(1)
	u.c.sent.Add(sent)
	digest := maphash.String(u.seed, key)
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, again := u.seen[digest]; again {
		u.c.retries.Add(1)
	}
	u.seen[digest] = struct{}{}
}

// CountSent counts more bytes of the object in a request that CountRequest
// counts, for a request whose size is unknown when it begins.
func CountSent(ctx context.Context, n int) {
	if u, ok := ctx.Value(uploadKey{}).(*upload); ok {
		u.c.sent.Add(int64(n))
	}
}
