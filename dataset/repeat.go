package dataset

import (
	"context"
	"io"
	"math"
	"slices"
)

// Repeat returns its input several times. Each pass is an epoch of its own for
// the shuffles and random ops below.
type Repeat struct {
	Count int64 `json:"count"` // passes; 0 means without end
}

func init() {
	Register(Info{Name: "repeat", Version: 1, New: func() Node { return &Repeat{} }, Doc: "several passes"})
}

// Repeat returns d count times, or without end if count is 0.
func (d *Dataset) Repeat(count int64) *Dataset { return d.then(&Repeat{count}) }

// Validate requires a count of 0 or more.
func (n *Repeat) Validate() error {
	if n.Count < 0 {
		return paramErr("count %d, want 0 (without end) or more", n.Count)
	}
	return nil
}

func (n *Repeat) traits() traits { return traits{changes: true} }

func (n *Repeat) build(_ *Built, s *step) error {
	in := s.inherit()
	if in.size == Unknown || in.size == 0 {
		return nil
	}
	if s.size = Endless; n.Count > 0 && in.size != Endless {
		if n.Count >= math.MaxInt64/in.size {
			return defErr("%d times %d samples, want fewer than 2^63 in total", n.Count, in.size)
		}
		s.size = in.size * n.Count
	}
	return nil
}

// length returns the length for each rank if the input has no index.
func (n *Repeat) length(b *Built, s *step) int64 {
	l := b.lenOf(s.in[0])
	switch {
	case l == Unknown || l == 0 || l == Endless:
		return l
	case n.Count == 0 || n.Count >= math.MaxInt64/l:
		return Endless
	}
	return l * n.Count
}

// epoch returns a unique epoch of the input for each pass of each epoch.
func (n *Repeat) epoch(epoch uint64, pass int64) uint64 {
	if n.Count == 0 {
		return epoch<<32 + uint64(pass)
	}
	return epoch*uint64(n.Count) + uint64(pass)
}

func (n *Repeat) locator(_ *Built, s *step) func(uint64, int64) (int, uint64, int64) {
	size := s.in[0].size
	if size == Endless {
		return func(epoch uint64, k int64) (int, uint64, int64) { return 0, n.epoch(epoch, 0), k }
	}
	return func(epoch uint64, k int64) (int, uint64, int64) { return 0, n.epoch(epoch, k/size), k % size }
}

func (n *Repeat) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	r := &repeated{o: *o, n: n, s: s, epoch: epoch}
	if o.state != nil {
		most := maxPlace
		if n.Count > 0 {
			most = n.Count - 1
		}
		r.pass = o.state.upTo(most, "the number of a pass")
		if o.state.err != nil {
			return nil, o.state.err
		}
	}
	var err error
	r.any = o.state != nil // a resumed pass counts as one with samples
	r.in, err = o.open(s.in[0], n.epoch(epoch, r.pass))
	r.o.state = nil
	return r, err
}

func (n *Repeat) trace(ctx context.Context, t *tracer, s *scope) error { return nil }

func (n *Repeat) merge(m *merger, s *step, epoch uint64) error {
	passes := m.each()
	if slices.Min(passes) != slices.Max(passes) {
		return m.fail("ranks are in passes %v of %s", passes, s.path)
	}
	m.out = append(m.out, passes[0])
	return m.inputs(s, n.epoch(epoch, passes[0]))
}

type repeated struct {
	o     opener
	n     *Repeat
	s     *step
	epoch uint64
	pass  int64
	any   bool // this pass had samples
	in    iterator
}

func (r *repeated) Next(ctx context.Context, s *Sample) error {
	for {
		err := pull(ctx, r.in, s)
		if err == nil {
			r.any = true
			return nil
		}
		if err != io.EOF || r.n.Count > 0 && r.pass+1 >= r.n.Count || r.n.Count == 0 && !r.any {
			return err
		}
		if err := r.in.Close(); err != nil {
			return err
		}
		in, err := r.o.open(r.s.in[0], r.n.epoch(r.epoch, r.pass+1))
		if err != nil {
			return err
		}
		r.in, r.any = in, false
		r.pass++
	}
}

func (r *repeated) Save(w []int64) []int64 { return r.in.Save(append(w, r.pass)) }

func (r *repeated) Close() error { return r.in.Close() }
