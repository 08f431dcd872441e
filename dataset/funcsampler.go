package dataset

import (
	"sync"

	"github.com/infer-prep/infer-prep/rng"
)

// FuncSampler chooses and orders rows by a user's function, which is called for
// each epoch. A Built keeps the orders of two epochs, 8 bytes a row, which all
// its runs and workers share.
//
// An order with an invalid row, or an error of the function, ends the run with
// a *NodeError, whatever Options.OnError is.
type FuncSampler struct {
	Name  string `json:"name"`  // of the function in RegisterFunc; empty for an unnamed one
	Count int64  `json:"count"` // up to 268,435,456; 0: the number of rows

	f SamplerFunc
}

func init() {
	Register(Info{Name: "func_sampler", Version: 1, New: func() Node { return &FuncSampler{} }, Doc: "rows in the order of a function"})
}

// SampleFunc returns, in each epoch, the count rows that f lists; 0 means as
// many as there are. Such a definition has no written form; a FuncSampler with
// a Name has one.
func (d *Dataset) SampleFunc(count int64, f SamplerFunc) *Dataset {
	return d.then(&FuncSampler{Count: count, f: f})
}

// maxOrder bounds the rows of an order, and so its memory to 2 GiB.
const maxOrder int64 = 1 << 28

// Validate requires a function and a count of 0 to 268,435,456.
func (n *FuncSampler) Validate() error {
	if n.Count < 0 || n.Count > maxOrder {
		return paramErr("count %d, want 0 to %d", n.Count, maxOrder)
	}
	_, err := n.function()
	return err
}

func (n *FuncSampler) function() (SamplerFunc, error) {
	if n.f != nil && n.Name == "" {
		return n.f, nil
	}
	return function[SamplerFunc](n.Name)
}

func (n *FuncSampler) unwritable() error { return unnamed(n.f != nil, n.Name) }

func (n *FuncSampler) traits() traits { return traits{changes: true} }

func (n *FuncSampler) build(b *Built, s *step) error {
	in, err := s.sampled(true)
	if err != nil {
		return err
	}
	if n.Count > 0 {
		s.size = n.Count
	}
	if s.size > maxOrder || s.size > 0 && in.size == 0 {
		return defErr("%d rows of %d, want at most %d, and none of an empty dataset", s.size, in.size, maxOrder)
	}
	o := &orders{path: s.path, seed: b.options.Seed, rows: in.size, count: s.size}
	o.f, err = n.function()
	s.state = o
	return err
}

// orders keeps the orders of the last two epochs that were asked for: a
// pipeline reads the next pass of a Repeat while it delivers this one. It is
// safe for concurrent use.
type orders struct {
	f           SamplerFunc
	path        string
	seed        uint64
	rows, count int64

	mu   sync.Mutex
	last [2]*order // the newest first
}

// order is the rows of an epoch, or why there are none.
type order struct {
	epoch uint64
	rows  []int64
	err   error
}

// of returns the order of an epoch.
func (o *orders) of(epoch uint64) *order {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, x := range o.last {
		if x != nil && x.epoch == epoch {
			o.last[0], o.last[i] = o.last[i], o.last[0]
			return x
		}
	}
	x := &order{epoch: epoch, rows: make([]int64, o.count)}
	for i := range x.rows {
		x.rows[i] = -1
	}
	c := Call{Stream: rng.NewKey(o.seed, epoch, o.path).At(0), Epoch: epoch}
	x.err = guard(func() error { return o.f(&c, o.rows, x.rows) })
	for i, r := range x.rows {
		if x.err == nil && (r < 0 || r >= o.rows) {
			x.err = defErr("the sampler's row %d of epoch %d is %d, want 0 to %d", i, epoch, r, o.rows-1)
		}
	}
	if x.err != nil {
		x.rows, x.err = nil, &NodeError{o.path, x.err}
	}
	o.last[0], o.last[1] = x, o.last[0]
	return x
}

func (n *FuncSampler) refusal(s *step, epoch uint64) error { return s.state.(*orders).of(epoch).err }

func (n *FuncSampler) locator(_ *Built, s *step) func(uint64, int64) (int, uint64, int64) {
	all := s.state.(*orders)
	var now *order
	return func(epoch uint64, k int64) (int, uint64, int64) {
		if now == nil || now.epoch != epoch {
			now = all.of(epoch)
		}
		if now.err != nil {
			return 0, epoch, noRow
		}
		return 0, epoch, now.rows[k]
	}
}
