package mxnet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/tensor"
)

// FromOptions are the options of FromDataset.
type FromOptions struct {
	// Data and Label are the columns of the batches' data and labels, in that
	// order.
	Data, Label []string
	// BatchSize is the size of the dataset's Batch.
	BatchSize int
	// Pad completes a short last batch by repeating its own rows, and Pad of
	// the batch counts them. Otherwise a short batch has fewer rows and Pad 0.
	Pad bool
	// Index is the column of the batches' Index: int64 scalars before Batch.
	// Default: no Index.
	Index string
	// Layout is the layout of DataDesc. Its first letter must be N. Default
	// "NCHW".
	Layout string
}

// FromDataset returns a DataIter of a run of a dataset, by either engine. The
// dataset must end with a Batch, or another node whose columns have the batch's
// axis first:
//
//	b, err := dataset.Build(ctx, d.Batch(32), dataset.Options{})
//	p, err := pipeline.New(b, pipeline.Options{}, nil)
//	it, err := mxnet.FromDataset(b, p, mxnet.FromOptions{Data: []string{"image"}, Label: []string{"label"}, BatchSize: 32})
//
// Reset of the DataIter is the run's NextEpoch. Close closes the run but not b.
// Order, errors and goroutines are the run's. Batches share the run's memory.
// An error of an option is a *ParamError. A batch with more rows than BatchSize
// or with unequal columns is a *DescError.
func FromDataset(b *dataset.Built, run Runner, o FromOptions) (DataIter, error) {
	fail := func(name, value, want string) (DataIter, error) {
		return nil, &ParamError{Iter: "FromDataset", Name: name, Value: value, Want: want}
	}
	if o.Layout == "" {
		o.Layout = "NCHW"
	}
	switch {
	case o.BatchSize < 1 || o.BatchSize > maxBatch:
		return fail("BatchSize", strconv.Itoa(o.BatchSize), wantBatch)
	case batchAxis(o.Layout) != 0:
		return fail("Layout", strconv.Quote(o.Layout), "N as the first letter")
	case len(o.Data) == 0:
		return fail("Data", "", "at least one column")
	}
	cols := b.Columns()
	var names []string
	for _, c := range cols {
		names = append(names, c.Name)
	}
	it := &runIter{run: run, size: o.BatchSize, pad: o.Pad, index: -1}
	for i, name := range slices.Concat(o.Data, o.Label) {
		option := map[bool]string{true: "Data", false: "Label"}[i < len(o.Data)]
		j := slices.Index(names, name)
		if j < 0 {
			return fail(option, strconv.Quote(name), "a column of the dataset"+registry.Hint(name, names))
		}
		d := cols[j].Desc
		if d.DType == tensor.Bytes || d.Shape.Rank() == 0 || d.Shape.At(0) != tensor.Unknown && d.Shape.At(0) != o.BatchSize {
			return fail(option, strconv.Quote(name), fmt.Sprintf("a column of batches of %d; it is %v", o.BatchSize, d))
		}
		desc := DataDesc{Name: name, Shape: d.Shape.With(0, o.BatchSize), DType: d.DType, Layout: o.Layout}
		it.cols = append(it.cols, j)
		it.descs = append(it.descs, desc)
	}
	it.nData = len(o.Data)
	it.padded = make([]stacked, len(it.cols))
	if o.Index != "" {
		it.index = slices.Index(names, o.Index)
		if it.index < 0 || cols[it.index].Desc.DType != tensor.Int64 || cols[it.index].Desc.Shape.Rank() != 1 {
			return fail("Index", strconv.Quote(o.Index), fmt.Sprintf("a column of int64 scalars in batches; the columns are %s", describe(cols)))
		}
	}
	return it, nil
}

func describe(l []dataset.Column) string {
	var s []string
	for _, c := range l {
		s = append(s, fmt.Sprintf("%q %v", c.Name, c.Desc))
	}
	return strings.Join(s, ", ")
}

// runIter iterates over the batches of a run.
type runIter struct {
	run    Runner
	size   int
	pad    bool
	index  int // column, or -1
	cols   []int
	descs  []DataDesc
	nData  int
	padded []stacked
	batch  DataBatch
	step   int64
	ended  error
}

func (it *runIter) ProvideData() []DataDesc { return it.descs[:it.nData:it.nData] }

func (it *runIter) ProvideLabel() []DataDesc { return it.descs[it.nData:] }

func (it *runIter) Next(ctx context.Context) (*DataBatch, error) {
	if it.ended != nil {
		return nil, it.ended
	}
	s, err := it.run.Next(ctx)
	if err != nil {
		return nil, err
	}
	b := &it.batch
	b.Data, b.Label, b.Pad, b.Index = b.Data[:0], b.Label[:0], 0, nil
	rows := 0
	for i, j := range it.cols {
		t := &s.Values[j].Tensor
		want := it.descs[i].desc()
		want.Layout = t.Layout
		if t.Shape.Rank() > 0 { // the first column determines the number of rows
			if i == 0 {
				rows = t.Shape.At(0)
			}
			want.Shape = want.Shape.With(0, rows)
		}
		if !want.Matches(t.Desc) || rows < 1 || rows > it.size {
			want.Shape = want.Shape.With(0, it.size)
			it.ended = &DescError{it.step, it.descs[i].Name, t.Desc, want}
			return nil, it.ended
		}
		if rows < it.size && it.pad {
			if t, err = it.fill(i, t); err != nil {
				it.ended = err
				return nil, err
			}
		}
		if i < it.nData {
			b.Data = append(b.Data, t)
		} else {
			b.Label = append(b.Label, t)
		}
	}
	if it.pad {
		b.Pad = it.size - rows
	}
	if it.index >= 0 {
		b.Index = tensor.View[int64](&s.Values[it.index].Tensor)
		if n := len(b.Index); n < it.size && it.pad {
			b.Index = slices.Clone(b.Index)
			for len(b.Index) < it.size {
				b.Index = append(b.Index, b.Index[len(b.Index)%n])
			}
		}
	}
	it.step++
	return b, nil
}

// fill returns column i completed with its own rows.
func (it *runIter) fill(i int, t *tensor.Tensor) (*tensor.Tensor, error) {
	c := &it.padded[i]
	n := t.Shape.At(0)
	if err := c.Reset(tensor.Desc{DType: t.DType, Shape: t.Shape.With(0, it.size)}); err != nil {
		return nil, err
	}
	c.outer, c.inner = 1, int(c.Size())/it.size
	for k := range it.size {
		r := row(t, 0, k%n)
		if err := c.put(k, &r); err != nil {
			return nil, err
		}
	}
	return &c.Tensor, nil
}

func (it *runIter) Reset() error {
	if errors.Is(it.ended, dataset.ErrClosed) {
		return it.ended
	}
	it.step, it.ended = 0, nil
	return it.run.NextEpoch()
}

func (it *runIter) Close() error {
	it.ended = dataset.ErrClosed
	return it.run.Close()
}
