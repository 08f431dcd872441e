package dataset

import (
	"fmt"
	"slices"
)

// Merge combines the states of all ranks, in any order, into a state that
// resumes on any number of ranks. The resumed run repeats no sample and loses
// none, including the samples in buffers. The order of buffered samples and the
// samples of an incomplete batch may differ from a run without the
// interruption.
//
// The states must be of the same epoch and definition. Merge is unnecessary if
// no length depends on the data and all ranks have returned equally many
// samples: then the state of any rank resumes all ranks, and keeps the order.
func (b *Built) Merge(states ...*State) (*State, error) {
	if len(states) == 0 {
		return nil, fmt.Errorf("%w: no states to merge", ErrState)
	}
	world := len(states)
	if slices.Contains(states, nil) {
		return nil, fmt.Errorf("%w: a state is nil", ErrState)
	}
	byRank := make([]*State, world)
	for _, s := range states {
		switch {
		case s.Version != states[0].Version || !knownVersion(uint64(s.Version)) || s.Fingerprint != b.fingerprint:
			return nil, fmt.Errorf("%w: a state has another version or definition", ErrState)
		case !slices.Equal(s.Sources, states[0].Sources):
			return nil, fmt.Errorf("%w: ranks %d and %d had other data", ErrState, states[0].Rank, s.Rank)
		case s.Epoch != states[0].Epoch:
			return nil, fmt.Errorf("%w: ranks are in epochs %d and %d", ErrState, states[0].Epoch, s.Epoch)
		case s.World != world || s.Rank < 0 || s.Rank >= world || byRank[s.Rank] != nil || s.Merged:
			return nil, fmt.Errorf("%w: rank %d of %d, want one state of each of %d ranks", ErrState, s.Rank, s.World, world)
		}
		if err := sameWeights(states[0], s); err != nil {
			return nil, err
		}
		byRank[s.Rank] = s
	}
	if err := b.checkSources(states[0].Sources); err != nil {
		return nil, err
	}
	out := &State{
		Version: states[0].Version, Fingerprint: b.fingerprint, Epoch: states[0].Epoch, World: 1, Merged: true,
		Sources: states[0].Sources, Weights: states[0].Weights,
	}
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
		if len(words) == 0 { // the rank has returned nothing yet
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

// beginning returns the words of a rank that has returned nothing.
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

// merger walks a definition and reads the words of all ranks in parallel.
type merger struct {
	b    *Built
	in   []*stateReader
	out  []int64
	held map[int32][]held // samples in buffers above, by root
}

func (m *merger) fail(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrState, fmt.Sprintf(format, args...))
}

// each reads one word of every rank.
func (m *merger) each() (l []int64) {
	for _, r := range m.in {
		l = append(l, r.int())
	}
	return l
}

// inputs merges the inputs of a step.
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
	if n, ok := s.node.(streamer); ok {
		return n.merge(m, s, epoch)
	}
	return m.inputs(s, epoch)
}

// put replaces a word of every rank by n.
func (m *merger) put(n int64) {
	m.each()
	m.out = append(m.out, n)
}

// largest replaces a word of every rank by the largest.
func (m *merger) largest() { m.out = append(m.out, slices.Max(m.each())) }

// drain removes the samples of a buffer: the resumed run reads them again.
func (m *merger) drain(s *step, size int) {
	for _, r := range m.in {
		for _, h := range m.b.loadHeld(r, s.in[0], size) {
			m.held[h.root] = append(m.held[h.root], h)
		}
	}
	m.out = append(m.out, 0)
}

// maxApart bounds the places between the slowest and the fastest rank, and so
// the memory of their holes.
const maxApart int64 = 1 << 24

// root merges cursors. The places that no rank took become holes below the
// first place that no rank has reached.
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
		c.world = max(world, 1) // the number of ranks when it was saved
		c.load(r)
		l = append(l, c)
	}
	first := &l[0]
	least, most := maxPlace, int64(0) // places that all ranks took, and that any took
	for rank := range l {
		c := &l[rank]
		if m.in[rank].err != nil {
			return nil
		}
		if c.base != first.base || c.world != first.world || !slices.Equal(c.holes, first.holes) {
			return m.fail("ranks started %s at different places", s.path)
		}
		if c.world != int64(len(m.in)) {
			return m.fail("%s was divided among %d ranks, want %d", s.path, c.world, len(m.in))
		}
		least = min(least, c.j*c.world)
		if c.j > 0 {
			most = max(most, (c.j-1)*c.world+c.rank%c.world+1)
		}
	}
	if n := first.remaining(); n >= 0 {
		most = min(most, n) // places beyond n were taken a second time
	}
	place := func(i int64) int64 {
		if h := int64(len(first.holes)); i >= h {
			return first.base + i - h
		}
		return first.holes[i]
	}
	if most-least > maxApart {
		return m.fail("the places of the ranks in %s are %d apart, want at most %d", s.path, most-least, maxApart)
	}
	var holes []int64
	for i := least; i < most; i++ {
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
			return m.fail("a buffer above %s has samples of an earlier pass", s.path)
		}
		if h.k < base { // else the place remains anyway: some parts of its sample are in a buffer
			holes = append(holes, h.k)
		}
	}
	slices.Sort(holes)
	holes = slices.Compact(holes)
	m.out = (&cursor{base: base, world: 1, holes: holes}).save(m.out)
	return nil
}

// parted merges a node where every rank reads all samples. The nodes below
// resume at the place of the slowest rank, and the samples that the others have
// returned since are skipped. own is the number of the node's own words.
func (m *merger) parted(s *step, own int, epoch uint64) error {
	l := make([]parted, len(m.in))
	least := 0
	for rank, r := range m.in {
		if world := l[rank].load(r); world != int64(len(m.in)) && r.err == nil {
			return m.fail("%s was divided among %d ranks, want %d", s.path, world, len(m.in))
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
	if end-p.at > maxApart {
		return m.fail("the places of the ranks in %s are %d apart, want at most %d", s.path, end-p.at, maxApart)
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
	// The nodes below would have to go back for samples in a buffer above.
	for root := s.first; root < s.last; root++ {
		if len(m.held[root]) > 0 {
			return m.fail("a buffer above %s has samples", s.path)
		}
	}
	// Keep the slowest rank's words of the nodes below, and skip the others'.
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
