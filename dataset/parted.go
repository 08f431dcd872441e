package dataset

import "context"

// parted gives this rank's part of the samples of an iterator that all ranks go
// through alike: every world-th of those that count.
type parted struct {
	in          iterator
	rank, world int64
	at          int64   // samples gone through
	counted     int64   // of them, those that were dealt out to the ranks of now
	pass        int64   // how many of the next ones were given before there were these ranks
	done        []int64 // which of those from at on were given too, ascending
}

// part makes one for this rank. Its in is set by the caller, which opens it after
// that, since states are read in this order.
func (o *opener) part() (*parted, error) {
	p := &parted{rank: int64(o.b.options.Rank), world: int64(o.b.options.World)}
	if o.state == nil {
		return p, nil
	}
	world := p.load(o.state)
	if world != p.world && o.state.err == nil && p.counted > 0 {
		// All ranks have had as many; the next ones begin a round of their own.
		p.pass += ((p.counted-1)/world+1)*world - p.counted
		p.counted = 0
	}
	return p, o.state.err
}

// load reads what save wrote, and returns the number of ranks that there were.
func (p *parted) load(r *stateReader) (world int64) {
	p.at, p.counted, p.pass, world = r.int(), r.int(), r.int(), r.int()
	p.done = r.ints()
	if p.at < 0 || p.counted < 0 || p.pass < 0 || world < 1 {
		r.fail("%d samples gone through, %d of them dealt out to %d ranks, %d to be passed over", p.at, p.counted, world, p.pass)
	}
	return world
}

func (p *parted) save(w []int64) []int64 {
	w = append(w, p.at, p.counted, p.pass, p.world, int64(len(p.done)))
	return append(w, p.done...)
}

// alone is o for what every rank goes through as a whole.
func (o *opener) alone() *opener {
	a, b := *o, *o.b
	b.options.Rank, b.options.World = 0, 1
	a.b = &b
	return &a
}

// deal says whose the next sample is: a rank, or -1 if it was given before.
func (p *parted) deal() int64 {
	at := p.at
	p.at++
	switch {
	case len(p.done) > 0 && p.done[0] == at:
		p.done = p.done[1:]
		return -1
	case p.pass > 0:
		p.pass--
		return -1
	}
	p.counted++
	return (p.counted - 1) % p.world
}

func (p *parted) Next(ctx context.Context, s *Sample) error {
	for {
		if err := pull(ctx, p.in, s); err != nil {
			return err
		}
		if p.deal() == p.rank {
			return nil
		}
	}
}

func (p *parted) Save(w []int64) []int64 { return p.in.Save(p.save(w)) }

func (p *parted) Close() error { return p.in.Close() }
