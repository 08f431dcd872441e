package dataset

import "math"

// Split returns one part of a dataset, for example for training or validation.
// The parts of the same dataset, sizes and seed are disjoint.
type Split struct {
	// Sizes are the sizes of all parts: numbers of samples with the dataset's
	// length as their sum, or fractions with the sum 1. A fraction f of n
	// samples has floor(f*n+0.5); the first part takes the rounding difference.
	Sizes []float64 `json:"sizes"`
	// Part is the number of this part, from 0.
	Part int `json:"part"`
	// Seed determines the random order in which samples are divided, equal in
	// all epochs. Ordered keeps the dataset's order instead.
	Seed    uint64 `json:"seed"`
	Ordered bool   `json:"ordered"`
}

func init() {
	Register(Info{Name: "split", Version: 1, New: func() Node { return &Split{Sizes: []float64{1}} }, Doc: "a part of a dataset"})
}

// Split splits d at random into parts of these sizes: numbers of samples, or
// fractions. The split depends on seed alone, not on Options.Seed.
func (d *Dataset) Split(seed uint64, sizes ...float64) []*Dataset {
	var parts []*Dataset
	for i := range sizes {
		parts = append(parts, d.then(&Split{Sizes: sizes, Part: i, Seed: seed}))
	}
	return parts
}

// Validate requires sizes that are all numbers or all fractions.
func (n *Split) Validate() error {
	if n.Part < 0 || n.Part >= len(n.Sizes) {
		return paramErr("part %d of %d, want 0 to the last part", n.Part, len(n.Sizes))
	}
	whole, sum := true, 0.0
	for _, f := range n.Sizes {
		if !(f >= 0) || f > 1<<53 {
			return paramErr("size %v, want 0 or more", f)
		}
		whole = whole && f == math.Trunc(f)
		sum += f
	}
	if !whole && math.Abs(sum-1) > 1e-9 {
		return paramErr("fractions with the sum %v, want 1", sum)
	}
	return nil
}

// counts returns the numbers of samples of the parts.
func (n *Split) counts(size int64) ([]int64, error) {
	l, sum, total := make([]int64, len(n.Sizes)), int64(0), 0.0
	for _, f := range n.Sizes {
		total += f
	}
	fractions := math.Abs(total-1) <= 1e-9
	if size == 1 && total == 1 { // numbers and fractions are equal here
		fractions = true
	}
	for i, f := range n.Sizes {
		if fractions {
			f = math.Floor(float64(f*float64(size)) + 0.5)
		}
		l[i] = int64(f)
		sum += l[i]
	}
	if !fractions && sum != size {
		return nil, defErr("sizes of %d samples in total, want the dataset's %d", sum, size)
	}
	l[0] += size - sum
	if l[0] < 0 {
		return nil, defErr("fractions %v leave the first part of %d samples %d, want 0 or more", n.Sizes, size, l[0])
	}
	return l, nil
}

func (n *Split) traits() traits { return traits{} }

func (n *Split) build(_ *Built, s *step) error {
	in := s.inherit()
	if err := in.requireFinite("a split"); err != nil {
		return err
	}
	l, err := n.counts(in.size)
	if err != nil {
		return err
	}
	first := int64(0)
	for _, c := range l[:n.Part] {
		first += c
	}
	s.size, s.state = l[n.Part], first
	return nil
}

func (n *Split) locator(_ *Built, s *step) func(uint64, int64) (int, uint64, int64) {
	first := s.state.(int64)
	if n.Ordered {
		return func(epoch uint64, k int64) (int, uint64, int64) { return 0, epoch, first + k }
	}
	// The order does not depend on the path: the parts have different paths.
	perm := permuted(n.Seed, "split", s.in[0].size)
	return func(epoch uint64, k int64) (int, uint64, int64) { return 0, epoch, perm(0, first+k) }
}
