package dataset

import (
	"context"

	"github.com/infer-prep/infer-prep/tensor"
)

// Func runs a user's function on every sample. The columns Out replace the
// columns In; all other columns stay.
type Func struct {
	Name string      `json:"name"` // of the function in RegisterFunc; empty for an unnamed one
	In   []string    `json:"in"`
	Out  []OutColumn `json:"out"`

	f MapFunc
}

// OutColumn is a column that a function computes. Sizes may be tensor.Unknown.
type OutColumn struct {
	Name string `json:"name"`
	tensor.Desc
}

func init() {
	Register(Info{Name: "func", Version: 1, New: func() Node { return &Func{In: []string{}, Out: []OutColumn{}} }, Doc: "a function on every sample"})
}

// MapFunc runs f on every sample: it computes the columns out from the columns
// in. Such a definition has no written form; a Func with a Name has one.
func (d *Dataset) MapFunc(f MapFunc, in []string, out ...Column) *Dataset {
	return d.then(&Func{In: in, Out: outColumns(out), f: f})
}

// outColumns returns columns as those of a function.
func outColumns(l []Column) []OutColumn {
	out := []OutColumn{}
	for _, c := range l {
		out = append(out, OutColumn{c.Name, c.Desc})
	}
	return out
}

// columnsOut returns the columns of a function.
func columnsOut(l []OutColumn) (out []Column) {
	for _, c := range l {
		out = append(out, Column{Name: c.Name, Desc: c.Desc})
	}
	return out
}

// Validate requires a function.
func (n *Func) Validate() error {
	if n.f != nil && n.Name == "" {
		return nil
	}
	_, err := function[MapFunc](n.Name)
	return err
}

func (n *Func) unwritable() error { return unnamed(n.f != nil, n.Name) }

func (n *Func) traits() traits { return traits{draws: true} }

func (n *Func) build(_ *Built, s *step) error {
	in := s.inherit()
	var err error
	s.state, err = s.replace(in, n.In, columnsOut(n.Out))
	return err
}

func (n *Func) from(s *step) []int { return s.state.(*outputs).from }

func (n *Func) worker(b *Built, s *step) (worker, error) {
	f := n.f
	if f == nil {
		var err error
		if f, err = function[MapFunc](n.Name); err != nil {
			return nil, err
		}
	}
	return &funcWorker{f: f, n: n, cols: s.state.(*outputs).clone(), caller: caller{seed: b.options.Seed, path: s.path}}, nil
}

func (n *Func) trace(ctx context.Context, t *tracer, s *scope) error {
	return computed(ctx, s, n.In, n.Out, "the function "+called(n.Name)+" makes it, which a graph cannot")
}

type funcWorker struct {
	f      MapFunc
	n      *Func
	cols   *outputs
	caller caller
	src    []*tensor.Tensor
	out    []Value
	dst    []*Value
}

func (w *funcWorker) Do(_ context.Context, s *Sample) error {
	w.src, w.out, w.dst = w.src[:0], w.out[:0], w.dst[:0]
	for _, i := range w.cols.in {
		w.src = append(w.src, &s.Values[i].Tensor)
	}
	for range w.n.Out {
		w.out = append(w.out, w.cols.value())
	}
	for i := range w.out {
		w.dst = append(w.dst, &w.out[i])
	}
	if err := w.f(w.caller.of(s), w.dst, w.src); err != nil {
		return err
	}
	for i, c := range w.n.Out {
		if !c.Desc.Matches(w.out[i].Desc) {
			return defErr("column %q: the function made %v, want %v", c.Name, w.out[i].Desc, c.Desc)
		}
		// Copy shared data: the inputs' buffers may be reused before the
		// output's.
		if v := &w.out[i]; !v.owned() {
			t := v.Tensor
			if err := v.Copy(&t); err != nil {
				return err
			}
		}
	}
	w.cols.apply(s, w.out)
	return nil
}
