package dataset

import "github.com/infer-prep/infer-prep/rng"

// Shuffle returns all samples in a random order, a new one in each epoch. It
// needs no memory and no start-up time for any number of samples: the order is
// a keyed permutation (rng.Permutation). The input must have an index; use
// ShuffleBuffer for others.
type Shuffle struct{}

func init() {
	Register(Info{Name: "shuffle", Version: 1, New: func() Node { return &Shuffle{} }, Doc: "all samples in random order"})
}

// Shuffle returns all samples in a random order, a new one in each epoch.
func (d *Dataset) Shuffle() *Dataset { return d.then(&Shuffle{}) }

// Validate returns nil: there are no parameters.
func (n *Shuffle) Validate() error { return nil }

func (n *Shuffle) traits() traits { return traits{changes: true} }

func (n *Shuffle) build(_ *Built, s *step) error {
	return s.inherit().requireRandom("a full shuffle")
}

// requireRandom returns an error unless s has an index, an end, and rows that
// are fast to read in any order.
func (s *step) requireRandom(who string) error {
	if x := s.ordered(); x != nil {
		return defErr("%s needs random access, which compressed files, as some of %s, do not have; use ShuffleShards or ShuffleBuffer", who, x.path)
	}
	return s.requireFinite(who)
}

// ordered returns a source at or below s whose rows are fast to read only in
// order, or nil.
func (s *step) ordered() *step {
	if o, ok := s.data.(Ordered); ok && o.Ordered() {
		return s
	}
	for _, in := range s.in {
		if x := in.ordered(); x != nil {
			return x
		}
	}
	return nil
}

// requireFinite returns an error unless s has an index and an end.
func (s *step) requireFinite(who string) error {
	switch {
	case !s.indexed:
		return defErr("%s needs random access, which %s does not have; use ShuffleBuffer, or put it below", who, s.path)
	case s.size == Endless:
		return defErr("%s of an endless dataset, want one that ends", who)
	}
	return nil
}

func (n *Shuffle) locator(b *Built, s *step) func(uint64, int64) (int, uint64, int64) {
	perm := permuted(b.options.Seed, s.path, s.in[0].size)
	return func(epoch uint64, k int64) (int, uint64, int64) { return 0, epoch, perm(epoch, k) }
}

// permuted returns a function, for one goroutine, that maps a place of an epoch
// through the permutation of the epoch.
func permuted(seed uint64, path string, n int64) func(epoch uint64, k int64) int64 {
	var p rng.Permutation
	of, ready := uint64(0), false
	return func(epoch uint64, k int64) int64 {
		if !ready || of != epoch {
			p, of, ready = rng.NewPermutation(uint64(n), rng.NewKey(seed, epoch, path)), epoch, true
		}
		return int64(p.At(uint64(k)))
	}
}
