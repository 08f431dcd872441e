package dataset

import (
	"math"
	"slices"
	"sort"

	"github.com/infer-prep/infer-prep/rng"
)

// Samplers choose and order the rows of a dataset with an index.

// SequentialSampler returns Count rows, from row Start on.
type SequentialSampler struct {
	Start int64 `json:"start"`
	Count int64 `json:"count"` // 0: all rows from Start on
}

// RandomSampler draws Count random rows in each epoch.
type RandomSampler struct {
	Replacement bool  `json:"replacement"` // a row may occur several times
	Count       int64 `json:"count"`       // 0: the number of rows
}

// SubsetSampler returns listed rows, in the order of the list. A row may be
// listed several times.
type SubsetSampler struct {
	Rows   []int64 `json:"rows"`
	Random bool    `json:"random"` // shuffle the list in each epoch
}

// WeightedSampler draws random rows by weight in each epoch.
type WeightedSampler struct {
	Weights     []float64 `json:"weights"` // one for each row, 0 or more
	Count       int64     `json:"count"`
	Replacement bool      `json:"replacement"` // a row may occur several times
}

// PKSampler draws PerClass random rows of each class in each epoch: all rows of
// the first class, then of the next, in the order of the classes' numbers. A
// class with fewer rows repeats them. The dataset must be a source whose rows
// have classes.
type PKSampler struct {
	PerClass int64 `json:"per_class"`
	Shuffle  bool  `json:"shuffle"` // shuffle all drawn rows
}

// DistributedSampler returns the rows of one of several ranks. Prefer
// Options.Rank and Options.World, which divide any definition and allow a
// resume on another number of ranks.
//
// Reference: MindSpore 2.10.0's DistributedSampler: equal rows without Shuffle.
type DistributedSampler struct {
	Shards  int64 `json:"shards"`
	Shard   int64 `json:"shard"`
	Shuffle bool  `json:"shuffle"` // shuffle the rows in each epoch before they are divided
	// Offset is -1 for shards of equal length: shards with one row less also
	// get one of the first rows. An Offset of 0 to Shards-1 is the shard of row
	// 0, and some shards have one row less.
	Offset int64 `json:"offset"`
}

func init() {
	for _, i := range []Info{
		{Name: "sequential_sampler", New: func() Node { return &SequentialSampler{} }, Doc: "rows from a place on"},
		{Name: "random_sampler", New: func() Node { return &RandomSampler{} }, Doc: "random rows"},
		{Name: "subset_sampler", New: func() Node { return &SubsetSampler{Rows: []int64{}} }, Doc: "listed rows"},
		{Name: "weighted_sampler", New: func() Node { return &WeightedSampler{Weights: []float64{}, Replacement: true} }, Doc: "rows drawn by weight"},
		{Name: "pk_sampler", New: func() Node { return &PKSampler{PerClass: 1} }, Doc: "some rows of each class"},
		{Name: "distributed_sampler", New: func() Node { return &DistributedSampler{Shards: 1, Shuffle: true, Offset: -1} }, Doc: "the rows of one of several ranks"},
	} {
		i.Version = 1
		Register(i)
	}
}

// Sample chooses rows with one of this package's samplers.
func (d *Dataset) Sample(sampler Node) *Dataset { return d.then(sampler) }

// Validate requires numbers of 0 or more.
func (n *SequentialSampler) Validate() error {
	if n.Start < 0 || n.Count < 0 {
		return paramErr("%d rows from %d on, want numbers of 0 or more", n.Count, n.Start)
	}
	return nil
}

// Validate requires a count of 0 or more.
func (n *RandomSampler) Validate() error { return notNegative(n.Count) }

// Validate requires rows of 0 or more.
func (n *SubsetSampler) Validate() error {
	for _, r := range n.Rows {
		if r < 0 {
			return paramErr("row %d, want 0 or more", r)
		}
	}
	return nil
}

// Validate requires finite weights of 0 or more, not all 0.
func (n *WeightedSampler) Validate() error {
	sum, some := 0.0, int64(0)
	for i, w := range n.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return paramErr("weight %d is %v, want a finite number of 0 or more", i, w)
		}
		sum += w
		if w > 0 {
			some++
		}
	}
	switch {
	case !(sum > 0) || math.IsInf(sum, 0):
		return paramErr("weights with the sum %v, want a finite sum above 0", sum)
	case n.Count < 0:
		return paramErr("count %d, want 0 or more", n.Count)
	case !n.Replacement && n.Count > some:
		return paramErr("%d different rows, want at most the %d with a weight above 0", n.Count, some)
	}
	return nil
}

// Validate requires 1 or more rows per class.
func (n *PKSampler) Validate() error {
	if n.PerClass < 1 {
		return paramErr("%d rows a class, want 1 or more", n.PerClass)
	}
	return nil
}

// Validate requires a shard and an offset below Shards.
func (n *DistributedSampler) Validate() error {
	if n.Shards < 1 || n.Shard < 0 || n.Shard >= n.Shards || n.Offset < -1 || n.Offset >= n.Shards {
		return paramErr("shard %d of %d, offset %d: want a shard and an offset of 0 to the last shard, or the offset -1", n.Shard, n.Shards, n.Offset)
	}
	return nil
}

// sampled is the common part of build of samplers. One that is not random reads
// rows in their order.
func (s *step) sampled(random bool) (*step, error) {
	in := s.inherit()
	if random {
		return in, in.requireRandom("a sampler")
	}
	return in, in.requireFinite("a sampler")
}

func (n *SequentialSampler) traits() traits { return traits{} }

func (n *SequentialSampler) build(_ *Built, s *step) error {
	in, err := s.sampled(false)
	if err != nil {
		return err
	}
	if n.Start > in.size || n.Count > in.size-n.Start {
		return defErr("%d rows from row %d on, want rows of the dataset's %d", n.Count, n.Start, in.size)
	}
	if s.size = n.Count; n.Count == 0 {
		s.size = in.size - n.Start
	}
	return nil
}

func (n *SequentialSampler) locator(*Built, *step) func(uint64, int64) (int, uint64, int64) {
	return func(epoch uint64, k int64) (int, uint64, int64) { return 0, epoch, n.Start + k }
}

func (n *RandomSampler) traits() traits { return traits{changes: true} }

func (n *RandomSampler) build(_ *Built, s *step) error {
	in, err := s.sampled(true)
	if err != nil || n.Count == 0 {
		return err
	}
	if !n.Replacement && n.Count > in.size || in.size == 0 {
		return defErr("%d different rows, want at most the dataset's %d", n.Count, in.size)
	}
	s.size = n.Count
	return nil
}

func (n *RandomSampler) locator(b *Built, s *step) func(uint64, int64) (int, uint64, int64) {
	size := s.in[0].size
	if !n.Replacement {
		perm := permuted(b.options.Seed, s.path, size)
		return func(epoch uint64, k int64) (int, uint64, int64) { return 0, epoch, perm(epoch, k) }
	}
	draw := drawn(b.options.Seed, s.path)
	return func(epoch uint64, k int64) (int, uint64, int64) {
		r := draw(epoch, k)
		return 0, epoch, int64(r.IntN(int(size)))
	}
}

// drawn returns a function, for one goroutine, that returns the random numbers
// of a place.
func drawn(seed uint64, path string) func(epoch uint64, k int64) rng.Stream {
	var key rng.Key
	of, ready := uint64(0), false
	return func(epoch uint64, k int64) rng.Stream {
		if !ready || of != epoch {
			key, of, ready = rng.NewKey(seed, epoch, path), epoch, true
		}
		return key.At(uint64(k))
	}
}

// permutation returns the permutation of 0 to n-1 that random numbers select.
func permutation(n int64, r rng.Stream) rng.Permutation {
	return rng.NewPermutation(uint64(n), rng.Key{r.Uint32(), r.Uint32()})
}

func (n *SubsetSampler) traits() traits { return traits{changes: n.Random} }

func (n *SubsetSampler) build(_ *Built, s *step) error {
	in, err := s.sampled(true)
	if err != nil {
		return err
	}
	for _, r := range n.Rows {
		if r >= in.size {
			return defErr("row %d, want one of the dataset's %d", r, in.size)
		}
	}
	s.size = int64(len(n.Rows))
	return nil
}

func (n *SubsetSampler) locator(b *Built, s *step) func(uint64, int64) (int, uint64, int64) {
	perm := permuted(b.options.Seed, s.path, s.size)
	return func(epoch uint64, k int64) (int, uint64, int64) {
		if n.Random {
			k = perm(epoch, k)
		}
		return 0, epoch, n.Rows[k]
	}
}

func (n *WeightedSampler) traits() traits { return traits{changes: true} }

func (n *WeightedSampler) build(_ *Built, s *step) error {
	in, err := s.sampled(true)
	if err != nil {
		return err
	}
	if int64(len(n.Weights)) != in.size {
		return defErr("%d weights, want one for each of %d rows", len(n.Weights), in.size)
	}
	s.size = n.Count
	sums, sum := make([]float64, len(n.Weights)), 0.0
	for i, w := range n.Weights {
		sum += w
		sums[i] = sum
	}
	s.state = sums
	return nil
}

func (n *WeightedSampler) locator(b *Built, s *step) func(uint64, int64) (int, uint64, int64) {
	if n.Replacement {
		sums := s.state.([]float64)
		draw := drawn(b.options.Seed, s.path)
		return func(epoch uint64, k int64) (int, uint64, int64) {
			r := draw(epoch, k)
			u := float64(r.Float64() * sums[len(sums)-1])
			i := sort.Search(len(sums)-1, func(i int) bool { return sums[i] > u })
			for i > 0 && n.Weights[i] == 0 { // rounding may reach trailing rows without weight
				i--
			}
			return 0, epoch, int64(i)
		}
	}
	// Each row gets a random time, exponential with its weight as the rate; the
	// rows are drawn in the order of their times (Efraimidis, Spirakis:
	// Weighted random sampling with a reservoir, 2006). The order of one epoch
	// is kept in memory.
	var order []int64
	of, ready := uint64(0), false
	return func(epoch uint64, k int64) (int, uint64, int64) {
		if !ready || of != epoch {
			order, of, ready = n.order(rng.NewKey(b.options.Seed, epoch, s.path)), epoch, true
		}
		return 0, epoch, order[k]
	}
}

// order returns the rows with a weight above 0 in the order in which they are
// drawn.
func (n *WeightedSampler) order(key rng.Key) []int64 {
	times := make([]float64, len(n.Weights))
	var l []int64
	for i, w := range n.Weights {
		if w > 0 {
			r := key.At(uint64(i))
			times[i] = exponential(&r) / w
			l = append(l, int64(i))
		}
	}
	slices.SortStableFunc(l, func(a, b int64) int {
		switch {
		case times[a] < times[b]:
			return -1
		case times[a] > times[b]:
			return 1
		}
		return 0
	})
	return l
}

// exponential draws from the exponential distribution with mean 1. It only
// compares numbers (von Neumann: Various techniques used in connection with
// random digits, 1951), so that the result is equal on all machines.
func exponential(r *rng.Stream) float64 {
	for whole := 0.0; ; whole++ {
		first := r.Float64()
		last := first
		for n := 1; ; n++ {
			u := r.Float64()
			if u >= last {
				if n%2 == 1 {
					return whole + first
				}
				break
			}
			last = u
		}
	}
}

// pkState lists the rows of the classes, one class after another.
type pkState struct {
	rows   []int64
	starts []int64 // of every class, then the number of rows
}

func (n *PKSampler) traits() traits { return traits{changes: true} }

func (n *PKSampler) build(_ *Built, s *step) error {
	in, err := s.sampled(true)
	if err != nil {
		return err
	}
	c, ok := in.data.(Classed)
	if !ok {
		return defErr("%s has no classes, want a source with classes (dataset.Classed)", in.path)
	}
	classes := map[int64][]int64{}
	for i := range in.size {
		k, err := c.Class(i)
		if err != nil {
			return err
		}
		classes[k] = append(classes[k], i)
	}
	st := &pkState{starts: []int64{0}}
	for _, k := range sortedKeys(classes) {
		st.rows = append(st.rows, classes[k]...)
		st.starts = append(st.starts, int64(len(st.rows)))
	}
	if len(classes) > 0 && n.PerClass > math.MaxInt64/int64(len(classes))-1 {
		return defErr("%d rows of %d classes, want fewer than 2^63 in total", n.PerClass, len(classes))
	}
	s.state, s.size = st, n.PerClass*int64(len(classes))
	return nil
}

func (n *PKSampler) locator(b *Built, s *step) func(uint64, int64) (int, uint64, int64) {
	st := s.state.(*pkState)
	shuffle := permuted(b.options.Seed, s.path+"/order", s.size)
	draw := drawn(b.options.Seed, s.path)
	return func(epoch uint64, k int64) (int, uint64, int64) {
		if n.Shuffle {
			k = shuffle(epoch, k)
		}
		c, i := k/n.PerClass, k%n.PerClass
		rows := st.rows[st.starts[c]:st.starts[c+1]]
		p := permutation(int64(len(rows)), draw(epoch, c))
		return 0, epoch, rows[p.At(uint64(i%int64(len(rows))))]
	}
}

func (n *DistributedSampler) traits() traits { return traits{changes: n.Shuffle} }

func (n *DistributedSampler) build(b *Built, s *step) error {
	in, err := s.sampled(n.Shuffle)
	if err != nil {
		return err
	}
	if b.options.World > 1 {
		return defErr("a distributed sampler with Options.World %d, want 1: rows would be divided twice", b.options.World)
	}
	switch {
	case in.size == 0:
	case n.Offset < 0:
		s.size = (in.size-1)/n.Shards + 1
	default:
		if first := (n.Shard - n.Offset + n.Shards) % n.Shards; first < in.size {
			s.size = (in.size-first-1)/n.Shards + 1
		} else {
			s.size = 0
		}
	}
	return nil
}

func (n *DistributedSampler) locator(b *Built, s *step) func(uint64, int64) (int, uint64, int64) {
	size := s.in[0].size
	perm := permuted(b.options.Seed, s.path, size)
	first := n.Shard
	if n.Offset >= 0 {
		first = (n.Shard - n.Offset + n.Shards) % n.Shards
	}
	return func(epoch uint64, k int64) (int, uint64, int64) {
		i := (k*n.Shards + first) % size
		if n.Shuffle {
			i = perm(epoch, i)
		}
		return 0, epoch, i
	}
}
