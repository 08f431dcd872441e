package dataset

import (
	"fmt"
	"slices"
)

// Merge makes one state of those of all ranks, in any order, with which a run goes
// on on another number of ranks: no sample that any rank gave is given again, and
// none is lost, those that waited in buffers included. (Samples that make up a
// batch's remainder, and the order of what buffers mix, are not those that there
// would have been.) Where all ranks are after as many samples and no length
// depends on the data, the state of any rank does, and the order is kept.
//
// The states must be of the same epoch, of a Built of the same definition.
func (b *Built) Merge(states ...*State) (*State, error) {
	if len(states) == 0 {
		return nil, fmt.Errorf("%w: none to merge", ErrState)
	}
	world := states[0].World
	byRank := make([]*State, world)
	for _, s := range states {
		switch {
		case s.Version != stateVersion || s.Fingerprint != b.fingerprint:
			return nil, fmt.Errorf("%w: one is of another version or definition", ErrState)
		case s.Epoch != states[0].Epoch:
			return nil, fmt.Errorf("%w: ranks stand in epochs %d and %d", ErrState, states[0].Epoch, s.Epoch)
		case s.World != world || s.Rank < 0 || s.Rank >= world || byRank[s.Rank] != nil || s.Merged:
			return nil, fmt.Errorf("%w: rank %d of %d, want one of each of %d", ErrState, s.Rank, s.World, world)
		}
		byRank[s.Rank] = s
	}
	if len(states) != world {
		return nil, fmt.Errorf("%w: %d states of %d ranks", ErrState, len(states), world)
	}
	out := &State{Version: stateVersion, Fingerprint: b.fingerprint, Epoch: states[0].Epoch, World: 1, Merged: true}
	m := &merger{b: b, held: map[int32][]held{}}
	begun := false
	for _, s := range byRank {
		out.Step = max(out.Step, s.Step)
		begun = begun || len(s.Words) > 0
	}
	if !begun {
		return out, nil
	}
	for rank, s := range byRank {
		words := s.Words
		if len(words) == 0 { // not begun: the state of a run that has given nothing
			var err error
			if words, err = b.beginning(rank, world, s.Epoch); err != nil {
				return nil, err
			}
		}
		m.in = append(m.in, &stateReader{words: words})
	}
	if err := m.step(b.top, out.Epoch); err != nil {
		return nil, err
	}
	for rank, r := range m.in {
		if r.err == nil && len(r.words) > 0 {
			r.fail("%d words too many", len(r.words))
		}
		if r.err != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, r.err)
		}
	}
	out.Words = m.out
	return out, nil
}

// beginning is the words of a rank that has given nothing.
func (b *Built) beginning(rank, world int, epoch uint64) ([]int64, error) {
	c := *b
	c.options.Rank, c.options.World = rank, world
	o := &opener{b: &c, stage: inline, bad: &badList{}, logs: newHeldLogs()}
	it, err := o.open(b.top, epoch)
	if err != nil {
		return nil, err
	}
	return it.Save(nil), it.Close()
}

// merger goes through a definition and the words of all ranks at once.
type merger struct {
	b    *Built
	in   []*stateReader
	out  []int64
	held map[int32][]held // samples that waited in buffers above, by root
}

func (m *merger) fail(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrState, fmt.Sprintf(format, args...))
}

// each reads a word of every rank.
func (m *merger) each() (l []int64) {
	for _, r := range m.in {
		l = append(l, r.int())
	}
	return l
}

func (m *merger) inputs(s *step, epoch uint64) error {
	for _, in := range s.in {
		if err := m.step(in, epoch); err != nil {
			return err
		}
	}
	return nil
}

func (m *merger) step(s *step, epoch uint64) error {
	if s.indexed || s.data != nil {
		return m.root(s, epoch)
	}
	switch n := s.node.(type) {
	case *Zip:
		return m.parted(s, 0, epoch)
	case *Take, *Skip:
		return m.parted(s, 1, epoch)
	case *Repeat:
		passes := m.each()
		if slices.Min(passes) != slices.Max(passes) {
			return m.fail("ranks stand in passes %v of %s", passes, s.path)
		}
		m.out = append(m.out, passes[0])
		epoch = n.epoch(epoch, passes[0])
	case *Watch:
		m.out = append(m.out, slices.Max(m.each()))
	case *Concat:
		m.each()
		m.out = append(m.out, 0) // what waited in buffers may be of any input; those that have nothing end again at once
	case *Mix, *Interleave:
		m.out = append(m.out, slices.Max(m.each()))
		for range s.in {
			m.each()
			m.out = append(m.out, 0) // likewise
		}
	case *ShuffleBuffer:
		m.out = append(m.out, slices.Max(m.each()))
		m.drain()
	case *BucketBatch:
		m.each()
		m.out = append(m.out, -1)
		m.drain()
	case *FlatMap, *Unbatch:
		m.flat(s)
	case *Batch:
	case mapper:
	default:
		return m.fail("%T has a state that cannot be merged", n)
	}
	return m.inputs(s, epoch)
}

// drain takes what waits in a buffer out: it is to be read again.
func (m *merger) drain() {
	for _, r := range m.in {
		o := &opener{b: m.b, state: r}
		for _, h := range o.loadHeld() {
			m.held[h.root] = append(m.held[h.root], h)
		}
	}
	m.out = append(m.out, 0)
}

// flat merges where several samples are made of one.
func (m *merger) flat(s *step) {
	p := partly{}
	const none = 1 << 40
	for _, r := range m.in {
		i := r.int()
		at := loadOrigin(r)
		for k, x := range loadPartly(r) {
			p[k] = x
		}
		if i > 0 {
			x, ok := p[at]
			if !ok {
				x.from = 0
			}
			x.also = slices.DeleteFunc(slices.Clone(x.also), func(n int64) bool { return n < i })
			x.from = max(x.from, i)
			p[at] = x
		}
	}
	for root := s.first; root < s.last; root++ {
		for _, h := range m.held[root] {
			k := h.origin
			k.sub = 0
			x, ok := p[k]
			if !ok {
				x.from = none
			}
			x.also = append(slices.Clone(x.also), int64(h.sub))
			p[k] = x
		}
	}
	m.out = p.save(origin{}.save(append(m.out, 0)))
}

// root merges cursors: what no rank has had stands before the first place that
// none has come to.
func (m *merger) root(s *step, epoch uint64) error {
	var l []cursor
	for rank, r := range m.in {
		c := cursor{n: s.size, rank: int64(rank), world: int64(len(m.in))}
		if s.data != nil && !s.indexed {
			c.n = Unknown
		}
		world := int64(0)
		if len(r.words) > 1 {
			world = r.words[1]
		}
		c.world = max(world, 1) // as it was saved
		c.load(r)
		l = append(l, c)
	}
	first := &l[0]
	most := int64(0)
	for rank := range l {
		c := &l[rank]
		if m.in[rank].err != nil {
			return nil
		}
		if c.base != first.base || c.world != first.world || !slices.Equal(c.holes, first.holes) {
			return m.fail("ranks began %s at other places", s.path)
		}
		if c.j > 0 {
			most = max(most, (c.j-1)*c.world+c.rank%c.world+1)
		}
	}
	if n := first.left(); n >= 0 {
		most = min(most, n) // beyond it, places were given a second time
	}
	place := func(i int64) int64 {
		if h := int64(len(first.holes)); i >= h {
			return first.base + i - h
		}
		return first.holes[i]
	}
	var holes []int64
	for i := range most {
		if i/first.world >= l[i%first.world].j {
			holes = append(holes, place(i))
		}
	}
	base := first.base
	if h := int64(len(first.holes)); most < h {
		holes = append(holes, first.holes[most:]...)
	} else {
		base += most - h
	}
	for _, h := range m.held[s.root] {
		if h.epoch != epoch {
			return m.fail("samples of an earlier pass wait in a buffer above %s", s.path)
		}
		if h.k < base { // else it is to be read anyway: a sample of which some parts wait
			holes = append(holes, h.k)
		}
	}
	slices.Sort(holes)
	holes = slices.Compact(holes)
	m.out = (&cursor{base: base, world: 1, holes: holes}).save(m.out)
	return nil
}

// parted merges where all ranks go through all samples: what is below goes on
// where the rank stands that has come the least far, and what the others were
// given from there on is left out. own is the number of words before those below.
func (m *merger) parted(s *step, own int, epoch uint64) error {
	l := make([]parted, len(m.in))
	least := 0
	for rank, r := range m.in {
		if world := l[rank].load(r); world != int64(len(m.in)) && r.err == nil {
			return m.fail("%s is divided among %d ranks, there are %d", s.path, world, len(m.in))
		}
		if r.err != nil {
			return nil
		}
		if l[rank].at < l[least].at {
			least = rank
		}
	}
	p := l[least]
	p.world = int64(len(m.in))
	end := p.at
	for _, o := range l {
		end = max(end, o.at)
	}
	q := parted{at: p.at, world: 1}
	for at := p.at; at < end; at++ {
		if rank := p.deal(); rank < 0 || l[rank].at > at {
			q.done = append(q.done, at)
		}
	}
	q.pass = p.pass
	q.done = append(q.done, p.done...)
	m.out = q.save(m.out)
	// What waited above was among what was gone through; it cannot be found again
	// below without going back.
	for root := s.first; root < s.last; root++ {
		if len(m.held[root]) > 0 {
			return m.fail("samples that wait in a buffer above %s", s.path)
		}
	}
	// The words below are those of one rank: the others' are passed over.
	for rank := range m.in {
		single := &merger{b: m.b, in: []*stateReader{m.in[rank]}, held: map[int32][]held{}}
		before := m.in[rank].words
		for range own {
			m.in[rank].int()
		}
		if err := single.inputs(s, epoch); err != nil {
			return err
		}
		if rank == least {
			m.out = append(m.out, before[:len(before)-len(m.in[rank].words)]...)
		}
	}
	return nil
}
