package dataset

import (
	"context"
	"io"
)

// TakeWhile returns the samples before the first one for which a predicate
// returns false. Every rank reads all samples up to that one.
//
// Reference: Python's itertools.takewhile: equal samples.
type TakeWhile struct {
	Name string   `json:"name"` // of the predicate in RegisterFunc; empty for an unnamed one
	In   []string `json:"in"`   // the columns that the predicate gets

	f Predicate
}

func init() {
	Register(Info{Name: "take_while", Version: 1, New: func() Node { return &TakeWhile{In: []string{}} }, Doc: "the samples up to the first for which a predicate is false"})
}

// TakeWhile returns the samples before the first one for which f returns false;
// f gets the columns in. Such a definition has no written form; a TakeWhile
// with a Name has one.
func (d *Dataset) TakeWhile(f Predicate, in ...string) *Dataset {
	return d.then(&TakeWhile{In: append([]string{}, in...), f: f})
}

// Validate requires a predicate.
func (n *TakeWhile) Validate() error { return n.filter().Validate() }

// filter returns the Filter with the same predicate.
func (n *TakeWhile) filter() *Filter { return &Filter{n.Name, n.In, n.f} }

func (n *TakeWhile) unwritable() error { return n.filter().unwritable() }

func (n *TakeWhile) traits() traits { return traits{} }

func (n *TakeWhile) build(b *Built, s *step) error { return n.filter().build(b, s) }

func (n *TakeWhile) trace(ctx context.Context, t *tracer, s *scope) error {
	return n.filter().trace(ctx, t, s)
}

func (n *TakeWhile) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	p, err := o.part()
	if err != nil {
		return nil, err
	}
	it := &takingWhile{failed: func(x *Sample, err error) error { return o.failed(s.path, x, err) }}
	if it.keep, err = guardWorker(func() (worker, error) { return n.filter().worker(o.b, s) }); err != nil {
		return nil, err
	}
	if o.state != nil {
		it.done = o.state.upTo(1, "the end of the samples") == 1
		if o.state.err != nil {
			return nil, o.state.err
		}
	}
	if it.in, err = o.singleRank().open(s.in[0], epoch); err != nil {
		return nil, err
	}
	p.in = o.judged(s, it)
	return p, nil
}

func (n *TakeWhile) merge(m *merger, s *step, epoch uint64) error { return m.parted(s, 1, epoch) }

type takingWhile struct {
	in     iterator
	keep   worker // drops the sample that ends the samples
	done   bool
	before []int64 // the state before the last sample
	failed func(*Sample, error) error
	bad    bool // the last sample ended the run
}

func (t *takingWhile) Next(ctx context.Context, s *Sample) error {
	if t.done {
		return io.EOF
	}
	t.before = t.Save(t.before[:0])
	if err := pull(ctx, t.in, s); err != nil {
		return err
	}
	if err := t.keep.Do(ctx, s); err != nil {
		err := t.failed(s, err)
		t.bad = err != nil
		return err
	}
	if t.done = s.dropped; t.done {
		return io.EOF
	}
	return nil
}

func (t *takingWhile) Save(w []int64) []int64 {
	switch {
	case t.bad:
		return append(w, t.before...)
	case t.done:
		return t.in.Save(append(w, 1))
	}
	return t.in.Save(append(w, 0))
}

func (t *takingWhile) Close() error { return t.in.Close() }
