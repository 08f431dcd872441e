package dataset

import (
	"context"
	"io"
)

// Take returns the first samples.
type Take struct {
	Count int64 `json:"count"`
}

// Skip drops the first samples.
type Skip struct {
	Count int64 `json:"count"`
}

func init() {
	Register(Info{Name: "take", Version: 1, New: func() Node { return &Take{} }, Doc: "the first samples"})
	Register(Info{Name: "skip", Version: 1, New: func() Node { return &Skip{} }, Doc: "all but the first samples"})
}

// Take returns the first count samples, or all if there are fewer.
func (d *Dataset) Take(count int64) *Dataset { return d.then(&Take{count}) }

// Skip returns all samples but the first count.
func (d *Dataset) Skip(count int64) *Dataset { return d.then(&Skip{count}) }

// Validate requires a count of 0 or more.
func (n *Take) Validate() error { return notNegative(n.Count) }

// Validate requires a count of 0 or more.
func (n *Skip) Validate() error { return notNegative(n.Count) }

func notNegative(n int64) error {
	if n < 0 {
		return paramErr("count %d, want 0 or more", n)
	}
	return nil
}

func (n *Take) traits() traits { return traits{} }

func (n *Take) build(_ *Built, s *step) error {
	if in := s.inherit(); in.size != Unknown {
		s.size = min(in.size, n.Count)
	}
	return nil
}

func (n *Skip) traits() traits { return traits{} }

func (n *Skip) build(_ *Built, s *step) error {
	switch in := s.inherit(); {
	case in.size == Unknown:
	case in.size != Endless:
		s.size = max(in.size-n.Count, 0)
	case n.Count > maxSkipped:
		return defErr("skip %d samples of an endless dataset, want at most %d", n.Count, maxSkipped)
	}
	return nil
}

// maxSkipped bounds Skip on an endless dataset, so that places do not overflow.
const maxSkipped int64 = 1 << 62

func (n *Take) locator(*Built, *step) func(uint64, int64) (int, uint64, int64) {
	return func(epoch uint64, k int64) (int, uint64, int64) { return 0, epoch, k }
}

func (n *Skip) locator(*Built, *step) func(uint64, int64) (int, uint64, int64) {
	return func(epoch uint64, k int64) (int, uint64, int64) { return 0, epoch, k + n.Count }
}

func (n *Take) length(b *Built, s *step) int64 {
	l := b.lenOf(s.in[0])
	if b.options.World > 1 || l == Unknown {
		return Unknown
	}
	return min(l, n.Count)
}

func (n *Skip) length(b *Built, s *step) int64 {
	l := b.lenOf(s.in[0])
	switch {
	case l == Unknown || l == Endless:
		return l
	case b.options.World > 1:
		return Unknown
	}
	return max(l-n.Count, 0)
}

// Without an index every rank counts all samples, so that the taken samples do
// not depend on the number of ranks.

func (n *Take) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	return counted(o, s, epoch, 0, n.Count)
}

func (n *Take) trace(ctx context.Context, t *tracer, s *scope) error { return nil }

func (n *Take) merge(m *merger, s *step, epoch uint64) error { return m.parted(s, 1, epoch) }

func (n *Skip) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	return counted(o, s, epoch, n.Count, Endless)
}

func (n *Skip) trace(ctx context.Context, t *tracer, s *scope) error { return nil }

func (n *Skip) merge(m *merger, s *step, epoch uint64) error { return m.parted(s, 1, epoch) }

// count returns samples from to to-1 of an iterator.
type count struct {
	in       iterator
	at       int64
	from, to int64
}

func counted(o *opener, s *step, epoch uint64, from, to int64) (iterator, error) {
	p, err := o.part()
	if err != nil {
		return nil, err
	}
	c := &count{from: from, to: to}
	p.in = c
	if o.state != nil {
		c.at = o.state.upTo(maxPlace, "the number of samples counted")
		if o.state.err != nil {
			return nil, o.state.err
		}
	}
	c.in, err = o.singleRank().open(s.in[0], epoch)
	return p, err
}

func (c *count) Next(ctx context.Context, s *Sample) error {
	for {
		if c.at >= c.to {
			return io.EOF
		}
		if err := pull(ctx, c.in, s); err != nil {
			return err
		}
		c.at++
		if c.at > c.from {
			return nil
		}
	}
}

func (c *count) Save(w []int64) []int64 { return c.in.Save(append(w, c.at)) }

func (c *count) Close() error { return c.in.Close() }
