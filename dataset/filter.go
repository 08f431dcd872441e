package dataset

import (
	"context"

	"github.com/infer-prep/infer-prep/tensor"
)

// Filter keeps the samples for which a predicate returns true.
type Filter struct {
	Name string   `json:"name"` // of the predicate in RegisterFunc; empty for an unnamed one
	In   []string `json:"in"`   // the columns that the predicate gets

	f Predicate
}

func init() {
	Register(Info{Name: "filter", Version: 1, New: func() Node { return &Filter{In: []string{}} }, Doc: "the samples for which a predicate is true"})
}

// Filter keeps the samples for which f returns true; f gets the columns in.
// Such a definition has no written form; a Filter with a Name has one.
func (d *Dataset) Filter(f Predicate, in ...string) *Dataset {
	return d.then(&Filter{In: append([]string{}, in...), f: f})
}

// Validate requires a predicate.
func (n *Filter) Validate() error {
	if n.f != nil && n.Name == "" {
		return nil
	}
	_, err := function[Predicate](n.Name)
	return err
}

func (n *Filter) unwritable() error { return unnamed(n.f != nil, n.Name) }

func (n *Filter) traits() traits { return traits{filters: true} }

func (n *Filter) build(_ *Built, s *step) error {
	in := s.in[0]
	s.columns = in.columns
	var err error
	s.state, err = in.columnsOf(n.In)
	return err
}

func (n *Filter) worker(b *Built, s *step) (worker, error) {
	f := n.f
	if f == nil {
		var err error
		if f, err = function[Predicate](n.Name); err != nil {
			return nil, err
		}
	}
	return &filterWorker{f: f, in: s.state.([]int), caller: caller{seed: b.options.Seed, path: s.path}}, nil
}

func (n *Filter) trace(ctx context.Context, t *tracer, s *scope) error {
	t.checks = append(t.checks, check{
		path: s.path, scope: s.below[0], columns: n.In,
		err: defErr("the predicate %s reads it, and a graph cannot drop an image", called(n.Name)),
	})
	return nil
}

type filterWorker struct {
	f      Predicate
	in     []int
	caller caller
	src    []*tensor.Tensor
}

func (w *filterWorker) Do(_ context.Context, s *Sample) error {
	w.src = w.src[:0]
	for _, i := range w.in {
		w.src = append(w.src, &s.Values[i].Tensor)
	}
	keep, err := w.f(w.caller.of(s), w.src)
	s.dropped = !keep
	return err
}
