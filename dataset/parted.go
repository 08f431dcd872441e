package dataset

import "context"

// parted returns this rank's part of the samples of an iterator that all ranks
// read: every world-th sample.
type parted struct {
	in          iterator
	rank, world int64
	at          int64   // samples read
	counted     int64   // samples dealt to the current ranks
	pass        int64   // the next samples to skip, since former ranks returned them
	done        []int64 // places after at that former ranks returned, ascending
}

// part returns a parted for this rank. The caller opens its input afterwards,
// since states are read in this order.
func (o *opener) part() (*parted, error) {
	p := &parted{rank: int64(o.b.options.Rank), world: int64(o.b.options.World)}
	if o.state == nil {
		return p, nil
	}
	world := p.load(o.state)
	if world != p.world && o.state.err == nil && p.counted > 0 {
		// All ranks returned equally many samples: complete their round.
		p.pass += ((p.counted-1)/world+1)*world - p.counted
		p.counted = 0
	}
	return p, o.state.err
}

// load restores a saved state and returns the number of ranks that saved it.
func (p *parted) load(r *stateReader) (world int64) {
	p.at = r.upTo(maxPlace, "the number of samples read")
	p.counted = r.upTo(p.at, "the number of samples dealt")
	p.pass = r.upTo(maxRanks, "the number of samples to skip") // at most a round
	world = r.ranks()
	p.done = r.ints()
	for i, at := range p.done {
		if at < p.at || i > 0 && at <= p.done[i-1] {
			r.fail("returned place %d, want ascending places from %d on", at, p.at)
		}
	}
	return world
}

func (p *parted) save(w []int64) []int64 {
	w = append(w, p.at, p.counted, p.pass, p.world, int64(len(p.done)))
	return append(w, p.done...)
}

// singleRank returns o for a node that every rank reads as a whole.
func (o *opener) singleRank() *opener {
	a, b := *o, *o.b
	b.options.Rank, b.options.World = 0, 1
	a.b = &b
	return &a
}

// deal returns the rank of the next sample, or -1 if a former rank returned it.
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
