package dataset

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/internal/sorts"
	"github.com/infer-prep/infer-prep/tensor"
)

// Unbatch makes a sample of each element of the first axis. The first axes of
// all columns must be equally long.
type Unbatch struct{}

// FlatMap replaces each sample with the samples of a function, any number of
// them.
type FlatMap struct {
	Name string      `json:"name"` // of the function in RegisterFunc; empty for an unnamed one
	In   []string    `json:"in"`   // the columns that the function gets
	Out  []OutColumn `json:"out"`  // all columns of the new samples

	f FlatMapFunc
}

func init() {
	Register(Info{Name: "unbatch", Version: 1, New: func() Node { return &Unbatch{} }, Doc: "a sample for each element of batches"})
	Register(Info{Name: "flat_map", Version: 1, New: func() Node { return &FlatMap{In: []string{}, Out: []OutColumn{}} }, Doc: "several samples for one, by a function"})
}

// Unbatch makes a sample of each element of a batch.
func (d *Dataset) Unbatch() *Dataset { return d.then(&Unbatch{}) }

// FlatMap replaces each sample with the samples that f makes of its columns in.
// They have the columns out alone. Such a definition has no written form; a
// FlatMap with a Name has one.
func (d *Dataset) FlatMap(f FlatMapFunc, in []string, out ...Column) *Dataset {
	return d.then(&FlatMap{In: in, Out: outColumns(out), f: f})
}

// Validate returns nil: there are no parameters.
func (n *Unbatch) Validate() error { return nil }

// Validate requires a function and output columns.
func (n *FlatMap) Validate() error {
	if len(n.Out) == 0 {
		return paramErr("no output columns, want 1 or more")
	}
	if n.f != nil && n.Name == "" {
		return nil
	}
	_, err := function[FlatMapFunc](n.Name)
	return err
}

func (n *Unbatch) traits() traits { return traits{several: true} }

func (n *Unbatch) build(_ *Built, s *step) error {
	in := s.in[0]
	for _, c := range in.columns {
		if c.Desc.Shape.Rank() == 0 {
			return defErr("column %q is %v, want one axis or more", c.Name, c.Desc)
		}
		s.columns = append(s.columns, Column{Name: c.Name, Desc: tensor.Desc{DType: c.Desc.DType, Shape: elementShape(c.Desc.Shape)}})
	}
	return nil
}

func (n *FlatMap) unwritable() error { return unnamed(n.f != nil, n.Name) }

func (n *FlatMap) traits() traits { return traits{several: true} }

func (n *FlatMap) build(_ *Built, s *step) error {
	in := s.in[0]
	s.columns = columnsOut(n.Out)
	var err error
	s.state, err = in.columnsOf(n.In)
	return err
}

func (n *Unbatch) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	return flatten(o, s, epoch, func(i int, dst *Sample, src *Sample) (bool, error) {
		dst.Resize(len(src.Values))
		for j := range src.Values {
			v := &src.Values[j]
			if v.Shape.Rank() == 0 || v.Shape.At(0) != src.Values[0].Shape.At(0) {
				return false, defErr("column %q is %v, want the first axis of %v", s.columns[j].Name, v.Desc, src.Values[0].Desc)
			}
			if i == v.Shape.At(0) {
				return false, nil
			}
			t, err := v.Tensor.Slice(0, i, i+1)
			if err != nil {
				return false, err
			}
			d := tensor.Desc{DType: v.DType, Shape: elementShape(v.Shape)}
			x := &dst.Values[j]
			if err := x.Reset(d); err != nil {
				return false, err
			}
			to := tensor.Tensor{Desc: t.Desc, Data: x.Data}
			to.Layout = tensor.NoLayout
			if err := to.Reset(to.Desc); err != nil {
				return false, err
			}
			if err := t.CopyTo(&to); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

func (n *Unbatch) trace(ctx context.Context, t *tracer, s *scope) error {
	if s.axes--; s.axes < 0 {
		s.axes = 0
		s.spoilt = &NodeError{s.path, defErr("it makes several samples of one, which a graph cannot")}
	}
	return nil
}

func (n *FlatMap) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	f := n.f
	if f == nil {
		var err error
		if f, err = function[FlatMapFunc](n.Name); err != nil {
			return nil, err
		}
	}
	in := s.state.([]int)
	calls := caller{seed: o.b.options.Seed, path: s.path}
	var src []*tensor.Tensor
	var dst []*Value
	return flatten(o, s, epoch, func(i int, to *Sample, from *Sample) (more bool, err error) {
		src, dst = src[:0], dst[:0]
		for _, j := range in {
			src = append(src, &from.Values[j].Tensor)
		}
		to.Resize(len(n.Out))
		for j := range to.Values {
			dst = append(dst, &to.Values[j])
		}
		err = guard(func() (err error) {
			more, err = f(calls.of(from), i, dst, src)
			return err
		})
		if err != nil || !more {
			return false, err
		}
		for j, c := range n.Out {
			v := &to.Values[j]
			if !c.Desc.Matches(v.Desc) {
				return false, defErr("column %q: the function made %v, want %v", c.Name, v.Desc, c.Desc)
			}
			if !v.owned() {
				t := v.Tensor
				if err := v.Copy(&t); err != nil {
					return false, err
				}
			}
		}
		return true, nil
	})
}

func (n *FlatMap) trace(ctx context.Context, t *tracer, s *scope) error {
	s.closed = true
	return computed(ctx, s, n.In, n.Out, "the function "+called(n.Name)+" makes several samples of one, which a graph cannot")
}

func (n *Unbatch) merge(m *merger, s *step, epoch uint64) error {
	mergeFlat(m, s)
	return m.inputs(s, epoch)
}

func (n *FlatMap) merge(m *merger, s *step, epoch uint64) error {
	mergeFlat(m, s)
	return m.inputs(s, epoch)
}

// mergeFlat merges the words of a flat.
func mergeFlat(m *merger, s *step) {
	p := partialSamples{}
	const none = 1 << 40
	for _, r := range m.in {
		i := r.int()
		at := loadOrigin(r)
		for k, x := range loadPartial(r) {
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

// flat returns several samples for one.
type flat struct {
	in      iterator
	one     Sample
	have    bool
	i       int // the next of the samples made of one
	from    int // the samples made of one before this were returned before a resume
	before  []int64
	partial partialSamples
	make    func(i int, dst, src *Sample) (bool, error)
	failed  func(*Sample, error) error
}

// partialSamples lists the samples of which a resumed run makes only some
// parts: those in also, and all from number from on. Merge produces it.
type partialSamples map[origin]partRange

type partRange struct {
	from int64
	also []int64
}

func (p partialSamples) save(w []int64) []int64 {
	w = append(w, int64(len(p)))
	keys := slices.Collect(maps.Keys(p))
	sorts.Func(keys, func(a, b origin) int {
		return cmp.Or(cmp.Compare(a.root, b.root), cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.k, b.k), cmp.Compare(a.sub, b.sub))
	})
	for _, k := range keys {
		x := p[k]
		w = append(k.save(w), x.from, int64(len(x.also)))
		w = append(w, x.also...)
	}
	return w
}

func loadPartial(r *stateReader) partialSamples {
	p := partialSamples{}
	for range r.count(6) {
		k := loadOrigin(r)
		from := r.int()
		p[k] = partRange{from, r.ints()}
	}
	return p
}

// has reports whether to return sample i of the samples made of s.
func (p partialSamples) has(s *Sample, i int) bool {
	x, ok := p[s.origin]
	return !ok || int64(i) >= x.from || slices.Contains(x.also, int64(i))
}

func flatten(o *opener, s *step, epoch uint64, f func(i int, dst, src *Sample) (bool, error)) (iterator, error) {
	it := &flat{make: f, failed: func(x *Sample, err error) error { return o.failed(s.path, x, err) }}
	skip := int64(0)
	if o.state != nil {
		skip = o.state.upTo(math.MaxInt32, "the number of samples made of one")
		it.one.origin = loadOrigin(o.state)
		it.partial = loadPartial(o.state)
		if o.state.err != nil {
			return nil, o.state.err
		}
	}
	var err error
	if it.in, err = o.open(s.in[0], epoch); err != nil {
		return nil, err
	}
	it.from = int(skip)
	it.before = it.in.Save(nil)
	return o.judged(s, it), nil
}

func (f *flat) Next(ctx context.Context, s *Sample) error {
	for {
		if !f.have {
			f.before = f.in.Save(f.before[:0])
			was := f.one.origin
			if err := pull(ctx, f.in, &f.one); err != nil {
				return err
			}
			f.have = true
			if f.one.origin != was { // the sample of the state is bad now
				f.from = 0
			}
		}
		more, err := f.make(f.i, s, &f.one)
		s.identity(&f.one)
		if err != nil {
			if err := f.failed(s, err); err != nil {
				return err
			}
			f.have, f.i, f.from = false, 0, 0
			return nil
		}
		if !more {
			if f.i < f.from {
				return fmt.Errorf("%w: sample %q makes %d samples, the state has returned %d", ErrState, f.one.Key, f.i, f.from)
			}
			f.have, f.i, f.from = false, 0, 0
			continue
		}
		s.origin.sub = int32(f.i)
		s.Ordinal = ofPart(s.Ordinal, f.i)
		f.i++
		if f.i > f.from && f.partial.has(&f.one, f.i-1) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// ofPart returns a unique ordinal for sample i of the samples made of one.
func ofPart(ordinal uint64, i int) uint64 { return ordinal ^ uint64(i)<<32 }

// Save appends the state before the sample that is not finished yet.
func (f *flat) Save(w []int64) []int64 {
	i := max(f.i, f.from)
	w = f.one.origin.save(append(w, int64(i)))
	w = f.partial.save(w)
	if f.have || i > 0 {
		return append(w, f.before...)
	}
	return f.in.Save(w)
}

func (f *flat) Close() error { return f.in.Close() }
