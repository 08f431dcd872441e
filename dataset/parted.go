package dataset

import "context"

// parted gives this rank's part of the samples of an iterator that all ranks go
// through alike: every world-th from base on.
type parted struct {
	in                Iterator
	rank, world, base int64
	at                int64 // samples gone through
}

// part makes one for this rank. Its in is set by the caller, which opens it after
// that, since states are read in this order.
func (o *opener) part() (*parted, error) {
	p := &parted{rank: int64(o.b.options.Rank), world: int64(o.b.options.World)}
	if o.state == nil {
		return p, nil
	}
	p.at, p.base = o.state.int(), o.state.int()
	world := o.state.int()
	if p.at < 0 || p.base < 0 || world < 1 {
		o.state.fail("%d samples gone through, from %d on for %d ranks", p.at, p.base, world)
	}
	if world != p.world && o.state.err == nil && p.at > p.base {
		// All ranks have had as many; the next ones begin a round of their own.
		p.base += ((p.at-p.base-1)/world + 1) * world
	}
	return p, o.state.err
}

// alone is o for what every rank goes through as a whole.
func (o *opener) alone() *opener {
	a, b := *o, *o.b
	b.options.Rank, b.options.World = 0, 1
	a.b = &b
	return &a
}

func (p *parted) Next(ctx context.Context, s *Sample) error {
	for {
		if err := pull(ctx, p.in, s); err != nil {
			return err
		}
		i := p.at - p.base
		p.at++
		if i >= 0 && i%p.world == p.rank {
			return nil
		}
	}
}

func (p *parted) Save(w []int64) []int64 { return p.in.Save(append(w, p.at, p.base, p.world)) }

func (p *parted) Close() error { return p.in.Close() }
