package dataset

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Cache keeps samples in memory once they were made, for later epochs and for
// all runs of a Built. Nothing is thrown out: when there is no more room, further
// samples are made each time. The input must have an index and be the same in
// every epoch: what is random belongs above the cache. (Functions of the user's
// below it are taken to be so.)
type Cache struct {
	Bytes int64 `json:"bytes"` // of samples that are kept, at most
}

func init() {
	Register(Info{Name: "cache", Version: 1, New: func() Node { return &Cache{Bytes: 1 << 30} }, Doc: "samples kept in memory"})
}

// Cache keeps samples, up to so many bytes.
func (d *Dataset) Cache(bytes int64) *Dataset { return d.then(&Cache{bytes}) }

// Validate wants a size.
func (n *Cache) Validate() error {
	if n.Bytes < 0 {
		return paramErr("%d bytes, want 0 or more", n.Bytes)
	}
	return nil
}

func (n *Cache) build(_ *Built, s *step) error {
	in, err := s.passes()
	if err != nil {
		return err
	}
	if err := in.finite("a cache"); err != nil {
		return err
	}
	if x := in.changing(); x != nil {
		return defErr("%s below a cache is not the same in every epoch; put it above", x.path)
	}
	s.state = &store{limit: n.Bytes, samples: map[int64]*Sample{}}
	return nil
}

// changing is a step at or below s that gives other samples, or another order,
// in every epoch; nil if there is none.
func (s *step) changing() *step {
	random := false
	switch n := s.node.(type) {
	case *Map:
		random = n.Graph.Random()
	case *Shuffle, *RandomSampler, *WeightedSampler, *PKSampler, *Repeat:
		random = true
	case *SubsetSampler:
		random = n.Random
	case *DistributedSampler:
		random = n.Shuffle
	}
	if random {
		return s
	}
	for _, in := range s.in {
		if x := in.changing(); x != nil {
			return x
		}
	}
	return nil
}

// store is the memory that all workers share.
type store struct {
	limit int64

	mu      sync.RWMutex
	samples map[int64]*Sample
	bytes   int64
}

func (n *Cache) openIndexed(o *opener, s *step, f feed) (Iterator, error) {
	return o.work(s, &feeder{f}, &badList{}, func() (Worker, error) {
		// Each worker makes what is missing by itself: all below runs in it.
		w := &caching{store: s.state.(*store), place: &place{}}
		inner := *o
		inner.stage = Inline
		inner.strict = true
		var err error
		w.in, err = inner.openIndexed(s.in[0], feed{root: f.root, epoch: f.epoch, one: w.place})
		return w, err
	})
}

type caching struct {
	store *store
	place *place
	in    Iterator
}

func (w *caching) Do(s *Sample) error {
	w.store.mu.RLock()
	have := w.store.samples[s.row]
	w.store.mu.RUnlock()
	if have != nil {
		s.resize(len(have.Values))
		for i := range have.Values {
			s.Values[i].Share(&have.Values[i].Tensor)
		}
		s.Key = have.Key
		return nil
	}
	*w.place = place{k: int64(s.Ordinal), pos: s.row, epoch: s.Epoch}
	row := s.row
	if err := w.in.Next(context.Background(), s); err != nil {
		var e *SampleError
		if errors.As(err, &e) {
			return fmt.Errorf("%s: %w", e.Path, e.Err)
		}
		return err
	}
	if s.dropped {
		return nil
	}
	return w.store.keep(row, s)
}

// keep keeps a copy, if there is room.
func (c *store) keep(row int64, s *Sample) error {
	n := int64(0)
	for i := range s.Values {
		n += int64(len(s.Values[i].Data))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.samples[row] != nil || n > c.limit-c.bytes {
		return nil
	}
	x := &Sample{}
	x.resize(len(s.Values))
	for i := range s.Values {
		x.Values[i].Tensor = *s.Values[i].Tensor.Clone()
	}
	x.Key = s.Key
	c.samples[row] = x
	c.bytes += n
	return nil
}
