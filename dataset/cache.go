package dataset

import (
	"context"
	"crypto/sha256"
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/tensor"
)

// Cache keeps samples in memory for later epochs and for all runs of a Built.
// It never evicts: once it is full, other samples are computed every time.
//
// Build moves it to where it helps: see PlaceCaches. So it may stand above
// random ops, shuffles and batches, and the bound holds as many samples as it
// can. It needs a source with an index below. A Cache below another one is used
// alone. User functions below it must be deterministic.
type Cache struct {
	Bytes int64 `json:"bytes"` // limit of the kept samples
}

func init() {
	Register(Info{Name: "cache", Version: 1, New: func() Node { return &Cache{Bytes: 1 << 30} }, Doc: "samples kept in memory"})
}

// Cache keeps samples of up to bytes bytes in memory.
func (d *Dataset) Cache(bytes int64) *Dataset { return d.then(&Cache{bytes}) }

// Validate requires a size of 0 or more.
func (n *Cache) Validate() error {
	if n.Bytes < 0 {
		return paramErr("%d bytes, want 0 or more", n.Bytes)
	}
	return nil
}

func (n *Cache) traits() traits { return traits{caches: true} }

func (n *Cache) build(b *Built, s *step) error {
	in := s.inherit()
	if !slices.Contains(b.options.Disable, PlaceCaches) {
		if !in.hasRows() {
			return defErr("a cache needs random access, which no source of %s has", in.path)
		}
		return nil
	}
	if err := in.requireFinite("a cache"); err != nil {
		return err
	}
	if x := in.changing(); x != nil {
		return defErr("%s below a cache differs between epochs; put it above", x.path)
	}
	s.state = newCacheScope(n.Bytes, true).cache(in, s.path).state
	return nil
}

// length is that of the input, until PlaceCaches moves the cache.
func (n *Cache) length(b *Built, s *step) int64 { return b.lenOf(s.in[0]) }

// hasRows reports whether a source at or below s has an index.
func (s *step) hasRows() bool {
	return s.data != nil && s.indexed || slices.ContainsFunc(s.in, (*step).hasRows)
}

// changing returns a step, s or one below, whose samples or order differ
// between epochs; nil if there is none.
func (s *step) changing() *step {
	if s.traits.changes {
		return s
	}
	for _, in := range s.in {
		if x := in.changing(); x != nil {
			return x
		}
	}
	return nil
}

func (n *Cache) index(o *opener, s *step, f feed) (iterator, error) { return o.openCache(s, f) }

// keeper stores the samples of a cache. It is safe for concurrent use.
type keeper interface {
	// get makes s the sample of a row. ok is false if the keeper does not have
	// it, or only with another stamp.
	get(row int64, stamp [32]byte, s *Sample) (ok bool, err error)
	// keep stores s if there is room.
	keep(ctx context.Context, row int64, stamp [32]byte, s *Sample) error
}

// cacheState is the state of a step that caches.
type cacheState struct {
	keeper
	hits, misses atomic.Int64
}

// CacheStats are the figures of a cache. The kept samples of a FileCache are
// not counted.
type CacheStats struct {
	Hits    int64 `json:"hits"`    // samples that the cache had
	Misses  int64 `json:"misses"`  // samples that were made because the cache lacked them
	Samples int64 `json:"samples"` // kept in memory
	Bytes   int64 `json:"bytes"`   // of these samples
}

func (c *cacheState) stats() *CacheStats {
	s := &CacheStats{Hits: c.hits.Load(), Misses: c.misses.Load()}
	if m, ok := c.keeper.(*memoryCache); ok {
		m.mu.RLock()
		defer m.mu.RUnlock()
		s.Samples, s.Bytes = int64(len(m.samples)), m.bytes
	}
	return s
}

func (o *opener) openCache(s *step, f feed) (iterator, error) {
	return o.work(s, &feeder{f}, &badList{}, func() (worker, error) {
		// Each worker computes missing samples itself, with all steps below.
		w := &caching{cacheState: s.state.(*cacheState), place: &place{}}
		if _, ok := w.keeper.(*fileKeeper); ok {
			w.stamps = o.b.stamps(s.in[0])
		}
		inner := *o
		inner.stage = inline
		inner.strict = true
		var err error
		w.in, err = inner.openIndexed(s.in[0], feed{root: f.root, epoch: f.epoch, one: w.place})
		return w, err
	})
}

type caching struct {
	*cacheState
	place  *place
	in     iterator
	stamps stampFunc // nil: samples have no stamps
	buf    []byte
}

func (w *caching) Do(ctx context.Context, s *Sample) error {
	var stamp [32]byte
	known := true
	if w.stamps != nil {
		// Before the files are read: a change in between is noticed later.
		b, err := w.stamps(ctx, s.Epoch, s.row, w.buf[:0])
		if known = err == nil; known {
			w.buf, stamp = b, sha256.Sum256(b)
		}
	}
	if known {
		if ok, err := w.get(s.row, stamp, s); err != nil {
			return err
		} else if ok {
			w.hits.Add(1)
			return nil
		}
	}
	w.misses.Add(1)
	*w.place = place{k: int64(s.Ordinal), pos: s.row, epoch: s.Epoch}
	row := s.row
	if err := w.in.Next(ctx, s); err != nil {
		if e, ok := errors.AsType[*SampleError](err); ok {
			return &nodeFailure{e.Path, e.Err}
		}
		return err
	}
	if s.dropped || !known {
		return nil
	}
	return w.keep(ctx, row, stamp, s)
}

// memoryCache is the keeper of a Cache.
type memoryCache struct {
	free *atomic.Int64 // bytes

	mu      sync.RWMutex
	samples map[int64]*Sample
	bytes   int64 // of samples
}

func (c *memoryCache) get(row int64, _ [32]byte, s *Sample) (bool, error) {
	c.mu.RLock()
	have := c.samples[row]
	c.mu.RUnlock()
	if have == nil {
		return false, nil
	}
	s.Resize(len(have.Values))
	for i := range have.Values {
		s.Values[i].Share(&have.Values[i].Tensor)
	}
	s.Key = have.Key
	return true, nil
}

func (c *memoryCache) keep(_ context.Context, row int64, _ [32]byte, s *Sample) error {
	n := s.kept()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.samples[row] != nil {
		return nil
	}
	if c.free.Add(-n) < 0 {
		c.free.Add(n)
		return nil
	}
	x := &Sample{}
	x.Resize(len(s.Values))
	for i := range s.Values {
		x.Values[i].Tensor = *s.Values[i].Tensor.Clone()
	}
	x.Key = s.Key
	c.samples[row] = x
	c.bytes += n
	return nil
}

// kept returns the memory of a copy of s in a cache.
func (s *Sample) kept() int64 {
	n := sampleBytes(len(s.Values)) + int64(len(s.Key))
	for i := range s.Values {
		n += s.Values[i].dense()
	}
	return n
}

// sampleBytes returns the memory of a kept sample without its data and key.
func sampleBytes(columns int) int64 {
	return int64(reflect.TypeFor[Sample]().Size()) + int64(columns)*int64(reflect.TypeFor[Value]().Size())
}

// dense returns the size of a dense copy.
func (v *Value) dense() int64 {
	if v.DType == tensor.Bytes {
		return int64(len(v.Data))
	}
	return v.Size()
}
