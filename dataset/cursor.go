package dataset

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Endless is the length of a dataset that never ends. Unknown is the length of
// a dataset whose length depends on its data.
const (
	Endless int64 = math.MaxInt64
	Unknown int64 = -1
)

// origin identifies a sample, so that a resumed run can read it again.
type origin struct {
	root int32 // the number of the root
	sub  int32 // the number of the sample among those made of one sample
	k    int64 // the place in the root's order
	// epoch is the root's epoch. A Repeat below the root has its own epochs.
	epoch uint64
}

func (o origin) save(w []int64) []int64 {
	return append(w, int64(o.root), int64(o.sub), o.k, int64(o.epoch))
}

func loadOrigin(r *stateReader) origin {
	root, sub := r.upTo(math.MaxInt32, "a root's number"), r.upTo(math.MaxInt32, "a part's number")
	k := r.upTo(maxPlace, "a sample's place")
	return origin{int32(root), int32(sub), k, uint64(r.int())}
}

// cursor iterates over the places of a root that remain in an epoch. Each rank
// takes every world-th of them.
type cursor struct {
	n           int64   // the epoch's length, Endless, or Unknown if it depends on the data
	holes       []int64 // places below base that remain; they come first
	base        int64   // the first place after the holes
	rank, world int64
	drop        bool  // drop a remainder; else ranks without a place take the first places again
	changed     bool  // load a state of other data
	j           int64 // places that this rank took
}

// remaining returns the number of places for all ranks.
func (c *cursor) remaining() int64 {
	if c.n == Endless || c.n == Unknown {
		return c.n
	}
	return int64(len(c.holes)) + c.n - c.base
}

// size returns the number of places for this rank.
func (c *cursor) size() int64 {
	n := c.remaining()
	switch {
	case n == Endless || n == Unknown || n == 0:
		return n
	case c.drop:
		return n / c.world
	}
	return (n-1)/c.world + 1
}

// next returns the next place. ok is false at the end.
func (c *cursor) next() (k int64, ok bool) {
	if size := c.size(); size >= 0 && c.j >= size {
		return 0, false
	}
	i := c.j*c.world + c.rank
	if n := c.remaining(); n > 0 && n != Endless && i >= n {
		i %= n
	}
	c.j++
	if i < int64(len(c.holes)) {
		return c.holes[i], true
	}
	return c.base + i - int64(len(c.holes)), true
}

// save appends the state of the cursor.
func (c *cursor) save(w []int64) []int64 {
	w = append(w, c.base, c.world, c.j, int64(len(c.holes)))
	return append(w, c.holes...)
}

// load restores a saved state. If the number of ranks has changed, all ranks
// must have taken equally many places before they saved.
func (c *cursor) load(r *stateReader) {
	base, world, j := r.upTo(maxPlace, "a cursor's place"), r.ranks(), r.upTo(maxPlace, "a cursor's step")
	holes := r.ints()
	if r.err != nil {
		return
	}
	if c.changed && c.n >= 0 {
		base = min(base, c.n)
		holes = slices.DeleteFunc(holes, func(h int64) bool { return h >= c.n })
	}
	if c.n >= 0 && base > c.n {
		r.fail("a cursor at place %d, want 0 to %d", base, c.n)
	}
	for i, h := range holes {
		if h < 0 || h >= base || i > 0 && h <= holes[i-1] {
			r.fail("hole %d of a cursor at place %d: want ascending places below", h, base)
		}
	}
	saved := cursor{n: c.n, holes: holes, base: base, world: world}
	most := saved.size()
	if most < 0 {
		most = maxPlace
	}
	if c.changed {
		j = min(j, most)
	}
	if most = min(most, maxPlace/world); j > most {
		r.fail("step %d of a cursor, want 0 to %d", j, most)
	}
	if r.err != nil {
		return
	}
	c.holes, c.base, c.j = holes, base, j
	if world != c.world {
		c.skip(j * world)
		c.j = 0
	}
}

// skip removes the first n places.
func (c *cursor) skip(n int64) {
	if h := int64(len(c.holes)); n < h {
		c.holes = slices.Clone(c.holes[n:])
	} else {
		c.holes = nil
		c.base += n - h
		if c.n >= 0 && c.base > c.n {
			c.base = c.n // some ranks took a place again
		}
	}
}

// The bounds of the words of a state. No run reaches them; they keep sums and
// products of forged words from overflowing.
const (
	maxPlace int64 = 1 << 60
	maxRanks int64 = 1 << 24
)

// stateReader reads the words of a state and keeps the first error.
type stateReader struct {
	words []int64
	err   error
}

func (r *stateReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrState, fmt.Sprintf(format, args...))
	}
}

func (r *stateReader) int() int64 {
	if r.err == nil && len(r.words) == 0 {
		r.fail("truncated")
	}
	if r.err != nil {
		return 0
	}
	n := r.words[0]
	r.words = r.words[1:]
	return n
}

// upTo reads a number of 0 to most.
func (r *stateReader) upTo(most int64, what string) int64 {
	n := r.int()
	if n < 0 || n > most {
		r.fail("%s is %d, want 0 to %d", what, n, most)
		return 0
	}
	return n
}

// ranks reads a number of ranks.
func (r *stateReader) ranks() int64 {
	n := r.int()
	if r.err == nil && (n < 1 || n > maxRanks) {
		r.fail("%d ranks, want 1 to %d", n, maxRanks)
	}
	return max(n, 1)
}

// count reads the length of a list whose elements have at least this many
// words.
func (r *stateReader) count(words int) int {
	n := r.int()
	if r.err == nil && (n < 0 || n > int64(len(r.words)/words)) {
		r.fail("a list of %d in %d words", n, len(r.words))
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

func (r *stateReader) ints() []int64 {
	n := r.count(1)
	if n == 0 {
		return nil
	}
	l := slices.Clone(r.words[:n])
	r.words = r.words[n:]
	return l
}

// sortedKeys returns the keys in ascending order.
func sortedKeys[V any](m map[int64]V) []int64 { return slices.Sorted(maps.Keys(m)) }
