package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/infer-prep/infer-prep/dataset"
)

// The kinds of resumption.
const (
	otherEngine = iota
	sameRanks
	otherRanks
	mergedRanks
)

var resumptions = []string{
	otherEngine: "one rank: another engine, other workers",
	sameRanks:   "each of 2 to 4 ranks from its own state, at different places",
	otherRanks:  "another number of ranks from the state of one, at equal places",
	mergedRanks: "another number of ranks from Merge, at different places",
}

// resumeTally counts the trials of one kind. lost and twice are samples beyond
// those that an uneven division drops or fills up.
type resumeTally struct{ trials, resumed, compared, filled, dropped, lost, twice int }

// audit counts what ranks got of the samples due to them, with size samples in
// all.
func (t *resumeTally) audit(got, due []item, size int) {
	n := map[item]int{}
	for _, x := range due {
		n[x]++
	}
	for _, x := range got {
		n[x]--
	}
	twice, lost := 0, 0
	for _, k := range n {
		twice, lost = twice+max(0, -k), lost+max(0, k)
	}
	filled, dropped := max(0, size-len(due)), max(0, len(due)-size)
	t.compared += len(got)
	t.filled += min(twice, filled)
	t.dropped += min(lost, dropped)
	t.twice += max(0, twice-filled)
	t.lost += max(0, lost-dropped)
}

// resumer makes trials of resumptions.
type resumer struct {
	s    *settings
	r    *rand.Rand
	ctx  context.Context
	want map[string][]item // the items of whole epochs
}

// resumes stops runs at random places and resumes them with other workers,
// engines and ranks.
func resumes(ctx context.Context, s *settings) (*section, error) {
	x := &section{Title: "Resumptions"}
	c, err := newCorpus(ctx, s, 47) // a prime number, so that ranks are uneven
	if err != nil {
		return nil, err
	}
	z := &resumer{s: s, r: rand.New(rand.NewPCG(s.Seed, 3)), ctx: ctx, want: map[string][]item{}}
	subjects := c.subjects()
	tallies := make([]resumeTally, len(resumptions))
	n := s.trials(1000)
	for trial := range n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if trial%100 == 99 {
			progress("resume: %d of %d", trial+1, n)
		}
		kind := trial % len(resumptions)
		sub := subjects[z.r.IntN(len(subjects))]
		for kind == otherRanks && !sub.alike {
			sub = subjects[z.r.IntN(len(subjects))]
		}
		o := dataset.Options{Seed: uint64(z.r.IntN(3)), DropUneven: z.r.IntN(2) == 0}
		if kind == mergedRanks && !sub.alike {
			o.DropUneven = true // a sample that fills up may leave a buffer at any place
		}
		t := &tallies[kind]
		t.trials++
		var err error
		switch kind {
		case otherEngine:
			err = z.one(t, sub, o)
		case sameRanks:
			err = z.same(t, sub, o)
		case otherRanks:
			err = z.other(t, sub, o)
		case mergedRanks:
			err = z.merged(t, sub, o)
		}
		if err != nil {
			x.failf("trial %d: %s: %s, seed %d, DropUneven %t: %v", trial, resumptions[kind], sub.name, o.Seed, o.DropUneven, err)
			if x.tooMany() {
				return x, nil
			}
		}
	}
	x.textf("%s runs stopped at a random place of epoch 0 to 2. Their states, as JSON or in the binary form, resumed runs with a random engine and "+
		"1 to 8 workers. Keys and digests of all samples up to the end of the epoch had to be those of an uninterrupted run: none lost, "+
		"none twice, each with its own random numbers. The last samples of an uneven division are filled up with first ones or dropped "+
		"(Options.DropUneven), exactly as many as documented. After Merge the order of the samples is not compared, and definitions with a "+
		"shuffle buffer have DropUneven, since a sample that fills up may leave the buffer early.", thousands(int64(n)))
	out := table{Head: []string{"kind", "runs", "resumptions", "samples compared", "filled up", "dropped as uneven", "lost", "twice"}}
	for i, t := range tallies {
		out.add(resumptions[i], t.trials, t.resumed, t.compared, t.filled, t.dropped, t.lost, t.twice)
		if t.lost+t.twice > 0 {
			x.failf("%s: %d samples lost, %d twice", resumptions[i], t.lost, t.twice)
		}
	}
	x.Tables = append(x.Tables, out)
	return x, nil
}

// whole returns the items of an epoch of a single rank, cached.
func (z *resumer) whole(sub subject, o dataset.Options, epoch int) ([]item, error) {
	key := fmt.Sprint(sub.name, o.Seed, epoch)
	if l, ok := z.want[key]; ok {
		return l, nil
	}
	l, err := whole(z.ctx, sub, dataset.Options{Seed: o.Seed}, epoch)
	if err == nil {
		z.want[key] = l
	}
	return l, err
}

// copied passes a state through one of its written forms.
func (z *resumer) copied(s *dataset.State) (*dataset.State, error) {
	out := &dataset.State{}
	if z.r.IntN(2) == 0 {
		b, err := s.MarshalBinary()
		if err != nil {
			return nil, err
		}
		return out, out.UnmarshalBinary(b)
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(b, out)
}

// leg runs a rank from a state, or from the start of an epoch if it is nil, for
// n samples or batches, or to the end if n is negative.
func (z *resumer) leg(sub subject, o dataset.Options, from *dataset.State, epoch, n int) (l []item, to *dataset.State, err error) {
	b, err := dataset.Build(z.ctx, sub.d, o)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	e := randomEngine(z.r)
	p, err := e.start(b, from)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if from == nil {
		for range epoch {
			if err := p.NextEpoch(); err != nil {
				return nil, nil, err
			}
		}
	}
	if n < 0 {
		l, err = readAll(z.ctx, p, sub.batch)
		return l, nil, err
	}
	if l, err = read(z.ctx, p, n, sub.batch); err != nil {
		return nil, nil, fmt.Errorf("%v: %d of %d steps: %w", e, len(l), n, err)
	}
	to, err = z.copied(p.State())
	return l, to, err
}

// steps returns the samples or batches of a rank's epoch.
func (z *resumer) steps(sub subject, o dataset.Options) (int, error) {
	b, err := dataset.Build(z.ctx, sub.d, o)
	if err != nil {
		return 0, err
	}
	return int(b.Len()), b.Close()
}

// one stops and resumes a single rank one to three times.
func (z *resumer) one(t *resumeTally, sub subject, o dataset.Options) error {
	epoch := z.r.IntN(3)
	want, err := z.whole(sub, o, epoch)
	if err != nil {
		return err
	}
	n, err := z.steps(sub, o)
	if err != nil {
		return err
	}
	var got []item
	var state *dataset.State
	for hops := 1 + z.r.IntN(3); hops > 0; hops-- {
		k := z.r.IntN(n) // below n, so that the epoch does not end
		l, to, err := z.leg(sub, o, state, epoch, k)
		if err != nil {
			return err
		}
		got, state, n = append(got, l...), to, n-k
		t.resumed++
	}
	l, _, err := z.leg(sub, o, state, epoch, -1)
	if err != nil {
		return err
	}
	got = append(got, l...)
	t.audit(got, want, len(want))
	if d := differ(got, want); d != "" {
		return errors.New(d)
	}
	return nil
}

// same stops the ranks at different places and resumes each from its own state.
func (z *resumer) same(t *resumeTally, sub subject, o dataset.Options) error {
	epoch := z.r.IntN(3)
	o.World = 2 + z.r.IntN(3)
	for o.Rank = range o.World {
		want, _, err := z.leg(sub, o, nil, epoch, -1)
		if err != nil {
			return err
		}
		n, err := z.steps(sub, o)
		if err != nil {
			return err
		}
		first, state, err := z.leg(sub, o, nil, epoch, z.r.IntN(n))
		if err != nil {
			return err
		}
		second, _, err := z.leg(sub, o, state, epoch, -1)
		if err != nil {
			return err
		}
		t.resumed++
		got := append(first, second...)
		t.audit(got, want, len(want))
		if d := differ(got, want); d != "" {
			return fmt.Errorf("rank %d of %d: %s", o.Rank, o.World, d)
		}
	}
	return nil
}

// other stops all ranks after equally many steps and resumes another number of
// ranks from the state of any of them. It keeps the order: rank r of n gets
// every n-th of the remaining samples.
func (z *resumer) other(t *resumeTally, sub subject, o dataset.Options) (err error) {
	epoch := z.r.IntN(3)
	all, err := z.whole(sub, o, epoch)
	if err != nil {
		return err
	}
	world, next := 1+z.r.IntN(4), 1+z.r.IntN(4)
	for next == world {
		next = 1 + z.r.IntN(4)
	}
	// Complete rounds alone: the place of the last one may be a repeated
	// sample, and a rank's last batch may be smaller.
	per := 1
	if sub.batch {
		if per, err = z.batchSize(sub, o); err != nil {
			return err
		}
	}
	k := z.r.IntN(len(all)/(world*per) + 1)
	var state *dataset.State
	for rank := range world {
		o.Rank, o.World = rank, world
		l, to, err := z.leg(sub, o, nil, epoch, k)
		if err != nil {
			return fmt.Errorf("rank %d of %d: %w", rank, world, err)
		}
		for j, got := range l {
			if want := all[j*world+rank]; got != want {
				return fmt.Errorf("rank %d of %d: sample %d is %v, want %v", rank, world, j, got, want)
			}
		}
		if state == nil || z.r.IntN(2) == 0 {
			state = to
		}
	}
	left := all[k*per*world:]
	size := (len(left) + next - 1) / next
	if o.DropUneven {
		size = len(left) / next
	}
	var together []item
	defer func() {
		if err == nil {
			t.audit(together, left, size*next)
		}
	}()
	for rank := range next {
		o.Rank, o.World = rank, next
		got, _, err := z.leg(sub, o, state, epoch, -1)
		if err != nil {
			return fmt.Errorf("rank %d of %d: %w", rank, next, err)
		}
		t.resumed++
		together = append(together, got...)
		if len(got) != size {
			return fmt.Errorf("%d to %d ranks after %d steps: rank %d got %d samples, want %d", world, next, k, rank, len(got), size)
		}
		for j := range got {
			if want := left[(j*next+rank)%len(left)]; got[j] != want {
				return fmt.Errorf("%d to %d ranks after %d steps: rank %d, sample %d is %v, want %v", world, next, k, rank, j, got[j], want)
			}
		}
	}
	return nil
}

// batchSize returns the number of elements of the first batch.
func (z *resumer) batchSize(sub subject, o dataset.Options) (int, error) {
	l, _, err := z.leg(sub, o, nil, 0, 1)
	return len(l), err
}

// merged stops the ranks at different places, once or twice, and resumes
// another number of ranks from their merged states.
func (z *resumer) merged(t *resumeTally, sub subject, o dataset.Options) error {
	epoch := z.r.IntN(3)
	all, err := z.whole(sub, o, epoch)
	if err != nil {
		return err
	}
	seen := map[item]int{} // how often each sample is due
	for _, x := range all {
		seen[x]++
	}
	take := func(l []item) error {
		for _, x := range l {
			if seen[x]--; seen[x] < 0 {
				return fmt.Errorf("%v came twice, or is no sample of the epoch", x)
			}
		}
		return nil
	}
	left := len(all)
	var state *dataset.State
	for range 1 + z.r.IntN(2) {
		world := 1 + z.r.IntN(4)
		var states []*dataset.State
		taken := 0
		for rank := range world {
			o.Rank, o.World = rank, world
			per, err := z.perRank(sub, o, left)
			if err != nil {
				return err
			}
			l, to, err := z.leg(sub, o, state, epoch, z.r.IntN(per+1))
			if err != nil {
				return fmt.Errorf("rank %d of %d: %w", rank, world, err)
			}
			if err := take(l); err != nil {
				return fmt.Errorf("rank %d of %d: %w", rank, world, err)
			}
			taken += len(l)
			states = append(states, to)
		}
		left -= taken
		z.r.Shuffle(len(states), func(i, j int) { states[i], states[j] = states[j], states[i] })
		b, err := dataset.Build(z.ctx, sub.d, o)
		if err != nil {
			return err
		}
		state, err = b.Merge(states...)
		if err := errors.Join(err, b.Close()); err != nil {
			return err
		}
		if state, err = z.copied(state); err != nil {
			return err
		}
		t.resumed++
	}
	next := 1 + z.r.IntN(4)
	var got []item
	for rank := range next {
		o.Rank, o.World = rank, next
		l, _, err := z.leg(sub, o, state, epoch, -1)
		if err != nil {
			return fmt.Errorf("rank %d of %d: %w", rank, next, err)
		}
		got = append(got, l...)
	}
	size := (left + next - 1) / next * next
	if o.DropUneven {
		size = left / next * next
	}
	var due []item
	for x, n := range seen {
		for range n {
			due = append(due, x)
		}
	}
	t.audit(got, due, size)
	if len(got) != size {
		return fmt.Errorf("%d ranks got %d samples of %d, want %d", next, len(got), left, size)
	}
	for _, x := range got {
		seen[x]--
	}
	twice, lost := 0, 0
	for _, n := range seen {
		twice, lost = twice+max(0, -n), lost+max(0, n)
	}
	if twice != max(0, size-left) || lost != max(0, left-size) {
		return fmt.Errorf("%d ranks: %d samples twice, want %d; %d lost, want %d", next, twice, max(0, size-left), lost, max(0, left-size))
	}
	return nil
}

// perRank returns how many samples or batches a rank can take without an
// incomplete batch or a repeated sample.
func (z *resumer) perRank(sub subject, o dataset.Options, left int) (int, error) {
	per := 1
	if sub.batch {
		var err error
		if per, err = z.batchSize(sub, dataset.Options{Seed: o.Seed}); err != nil {
			return 0, err
		}
	}
	return left / (o.World * per), nil
}
