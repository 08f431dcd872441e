package dataset

import (
	"context"
	"io"
)

// Take ends after so many samples.
type Take struct {
	Count int64 `json:"count"`
}

// Skip leaves out so many samples at the beginning.
type Skip struct {
	Count int64 `json:"count"`
}

func init() {
	Register(Info{Name: "take", Version: 1, New: func() Node { return &Take{} }, Doc: "the first samples"})
	Register(Info{Name: "skip", Version: 1, New: func() Node { return &Skip{} }, Doc: "all but the first samples"})
}

// Take is the first count samples, or all if there are fewer.
func (d *Dataset) Take(count int64) *Dataset { return d.then(&Take{count}) }

// Skip is all but the first count samples.
func (d *Dataset) Skip(count int64) *Dataset { return d.then(&Skip{count}) }

// Validate wants a number that is not negative.
func (n *Take) Validate() error { return notNegative(n.Count) }

// Validate wants a number that is not negative.
func (n *Skip) Validate() error { return notNegative(n.Count) }

func notNegative(n int64) error {
	if n < 0 {
		return paramErr("count %d, want 0 or more", n)
	}
	return nil
}

func (n *Take) build(_ *Built, s *step) error {
	in, err := s.passes()
	if err == nil && in.size != Unknown {
		s.size = min(in.size, n.Count)
	}
	return err
}

func (n *Skip) build(_ *Built, s *step) error {
	in, err := s.passes()
	switch {
	case err != nil || in.size == Unknown:
		return err
	case in.size != Endless:
		s.size = max(in.size-n.Count, 0)
	case n.Count > mostSkipped:
		return defErr("%d samples left out of a dataset without an end, want at most %d", n.Count, mostSkipped)
	}
	return nil
}

// mostSkipped of a dataset without an end leave places that can be counted.
const mostSkipped = 1 << 62

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

// Without an index all ranks count all samples, so that it is the same ones that
// are taken whatever their number.

func (n *Take) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	return counted(o, s, epoch, 0, n.Count)
}

func (n *Skip) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	return counted(o, s, epoch, n.Count, Endless)
}

// count gives samples from..to of an iterator.
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
		if c.at = o.state.int(); c.at < 0 {
			o.state.fail("%d samples counted", c.at)
		}
		if o.state.err != nil {
			return nil, o.state.err
		}
	}
	c.in, err = o.alone().open(s.in[0], epoch)
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
