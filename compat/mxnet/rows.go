package mxnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Runner is a run of a dataset by either engine: a *dataset.Run or a
// *pipeline.Pipeline.
type Runner interface {
	Next(ctx context.Context) (*dataset.Sample, error)
	NextEpoch() error
	Close() error
}

// last selects the handling of an epoch's last rows if they don't fill a batch.
type last uint8

const (
	lastPad     last = iota // complete the batch with the epoch's first rows
	lastDiscard             // drop them
	lastRoll                // put them before the next epoch
	lastZero                // complete the batch with zeros
	lastShort               // return a shorter batch
)

// rowsName is the column of row numbers. No input can have this name, since
// names with a NUL are refused.
const rowsName = "\x00row"

// rowIter makes batches of the rows of a run. The run determines the order and
// reads ahead.
type rowIter struct {
	data, label []DataDesc
	src         dataset.Rows // the rows that are read
	built       *dataset.Built
	run         Runner
	size        int
	last        last
	// blocks is set if the run itself returns batches of rows, so that whole
	// batches are read ahead.
	blocks bool
	block  *dataset.Sample // the current block; its first at rows are consumed
	at     int

	cols  []stacked // of data and then label
	batch DataBatch
	views []tensor.Tensor // of a block that is returned as a batch
	index []int64
	n     int // rows already in the next batch
	// carried is the number of these rows that come from the epoch before.
	carried int
	// first holds the epoch's first rows, as many as its last batch may need.
	first      []stacked
	firstIndex []int64
	row        dataset.Sample // of a block
	ended      error
}

// stacked is the tensor of a batch.
type stacked struct {
	tensor.Tensor
	axis    int // of the batch
	outer   int // elements before the axis
	inner   int // bytes after the axis
	scratch tensor.Tensor
}

func newStacked(d tensor.Desc, axis int) (c stacked, err error) {
	c = stacked{axis: axis, outer: 1, inner: d.DType.Size()}
	for a := range d.Shape.Rank() {
		switch {
		case a < axis:
			c.outer *= d.Shape.At(a)
		case a > axis:
			c.inner *= d.Shape.At(a)
		}
	}
	return c, c.Reset(d)
}

// source is a dataset.Source of rows that are already open.
type source struct{ rows dataset.Rows }

func (s *source) Validate() error { return nil }

func (s *source) Open(context.Context, store.Opener) (dataset.Data, error) { return s.rows, nil }

// rowOptions are the options of newRowIter.
type rowOptions struct {
	size    int
	last    last
	seed    uint64
	shuffle bool
	blocks  bool
	// filtered is set if each may drop rows.
	filtered bool
	// each is inserted between the rows' order and the batches; it may be nil.
	// Its result must have the columns of data and of label, and the row's
	// number.
	each   func(*dataset.Dataset) *dataset.Dataset
	engine func(*dataset.Built) (Runner, error)
}

// newRowIter returns an iterator of rows. Their columns are those of data,
// those of label, and the row's number. It closes src if it fails; otherwise
// Close does.
func newRowIter(ctx context.Context, src dataset.Rows, data, label []DataDesc, o rowOptions) (*rowIter, error) {
	it := &rowIter{data: data, label: label, src: src, size: o.size, last: o.last, blocks: o.blocks, index: make([]int64, o.size)}
	short := int(src.Len() % int64(o.size))
	if short > 0 && o.last == lastPad {
		it.firstIndex = make([]int64, 0, min(int64(o.size-short), src.Len()))
	}
	if o.filtered && o.last == lastPad {
		it.firstIndex = make([]int64, 0, min(int64(o.size-1), src.Len()))
	}
	fail := func(err error) (*rowIter, error) { return nil, errors.Join(err, src.Close()) }
	for _, d := range slices.Concat(data, label) {
		c, err := newStacked(d.desc(), d.BatchAxis())
		if err != nil {
			return fail(err)
		}
		it.cols = append(it.cols, c)
		if n := cap(it.firstIndex); n > 0 {
			if c, err = newStacked(tensor.Desc{DType: d.DType, Shape: with(without(d.Shape, c.axis), 0, n)}, 0); err != nil {
				return fail(err)
			}
		}
		it.first = append(it.first, c)
	}
	it.row.Values = make([]dataset.Value, len(it.cols))
	it.views = make([]tensor.Tensor, len(it.cols))
	d := dataset.From(&source{src})
	if o.shuffle {
		d = d.Shuffle()
	}
	if o.each != nil {
		d = o.each(d)
	}
	if o.blocks {
		d = d.Batch(o.size)
	}
	var err error
	// Build closes src if it fails.
	if it.built, err = dataset.Build(ctx, d, dataset.Options{Seed: o.seed}); err != nil {
		return nil, err
	}
	if it.run, err = o.engine(it.built); err != nil {
		return nil, errors.Join(err, it.built.Close())
	}
	return it, nil
}

// ProvideData describes the batches' data.
func (it *rowIter) ProvideData() []DataDesc { return it.data }

// ProvideLabel describes the batches' labels.
func (it *rowIter) ProvideLabel() []DataDesc { return it.label }

// Next returns the next batch; see DataIter.
func (it *rowIter) Next(ctx context.Context) (*DataBatch, error) {
	if it.ended != nil {
		return nil, it.ended
	}
	for it.n < it.size {
		if it.block == nil {
			err := it.pull(ctx)
			if err == io.EOF {
				return it.lastBatch()
			}
			if err != nil {
				// After a cancelled ctx the run may be able to continue. If
				// not, it returns the error again.
				return nil, err
			}
			if it.blocks && it.n == 0 && len(it.numbers()) == it.size {
				return it.whole()
			}
		}
		if err := it.take(); err != nil {
			return nil, err
		}
	}
	return it.give(0), nil
}

// pull gets the next block or row from the run.
func (it *rowIter) pull(ctx context.Context) error {
	if err := ctx.Err(); err != nil { // Next would end the run
		return err
	}
	s, err := it.run.Next(ctx)
	if err == nil {
		it.block, it.at = s, 0
	}
	return err
}

// numbers returns the numbers of the block's rows.
func (it *rowIter) numbers() []int64 {
	return tensor.View[int64](&it.block.Values[len(it.cols)].Tensor)
}

// rowOf returns row i of the block. It is valid until the next call.
func (it *rowIter) rowOf(i int) *dataset.Sample {
	if !it.blocks {
		return it.block
	}
	for j := range it.cols {
		r := row(&it.block.Values[j].Tensor, 0, i)
		it.row.Values[j].Share(&r)
	}
	it.row.Key = it.block.Key
	return &it.row
}

// take appends the block's next row to the batch.
func (it *rowIter) take() error {
	numbers := it.numbers()
	s := it.rowOf(it.at)
	err := it.keep(s, numbers[it.at])
	if err == nil {
		err = put(it.cols, it.n, s)
	}
	if err != nil {
		it.ended = err
		return err
	}
	it.index[it.n] = numbers[it.at]
	it.n++
	if it.at++; it.at == len(numbers) {
		it.block = nil
	}
	return nil
}

// keep saves a row if the last batch may need it.
func (it *rowIter) keep(s *dataset.Sample, number int64) error {
	k := len(it.firstIndex)
	if k == cap(it.firstIndex) {
		return nil
	}
	it.firstIndex = append(it.firstIndex, number)
	return put(it.first, k, s)
}

// whole returns the block as a batch. It uses the block's memory if possible.
func (it *rowIter) whole() (*DataBatch, error) {
	numbers := it.numbers()
	for i := range numbers {
		if len(it.firstIndex) == cap(it.firstIndex) {
			break
		}
		if err := it.keep(it.rowOf(i), numbers[i]); err != nil {
			it.ended = err
			return nil, err
		}
	}
	for j := range it.cols {
		c, t := &it.cols[j], &it.block.Values[j].Tensor
		if t.Size() != c.Size() || !t.Dense() || c.axis != 0 {
			for range numbers {
				if err := it.take(); err != nil {
					return nil, err
				}
			}
			return it.give(0), nil
		}
		it.views[j] = tensor.Tensor{Desc: c.Desc, Strides: c.Strides, Data: t.Data}
	}
	b := it.give(0)
	for j := range it.views {
		if j < len(it.data) {
			b.Data[j] = &it.views[j]
		} else {
			b.Label[j-len(it.data)] = &it.views[j]
		}
	}
	b.Index = numbers
	it.block = nil
	return b, nil
}

// lastBatch handles the end of the data.
func (it *rowIter) lastBatch() (*DataBatch, error) {
	it.ended = io.EOF
	n := it.n
	switch {
	case it.last == lastRoll:
		it.carried = n
		return nil, io.EOF
	case n == 0 || it.last == lastDiscard:
		return nil, io.EOF
	case it.last == lastShort:
		return it.short()
	}
	for i := 0; it.n < it.size; i++ {
		if it.last == lastZero {
			for j := range it.cols {
				it.cols[j].zero(it.n)
			}
			it.index[it.n] = -1
			it.n++
			continue
		}
		k := i % len(it.firstIndex)
		for j := range it.cols {
			r := row(&it.first[j].Tensor, 0, k)
			if err := it.cols[j].put(it.n, &r); err != nil {
				it.ended = err
				return nil, err
			}
		}
		it.index[it.n] = it.firstIndex[k]
		it.n++
	}
	return it.give(it.size - n), nil
}

// short returns a batch of the remaining rows.
func (it *rowIter) short() (*DataBatch, error) {
	n := it.n
	b := it.give(0)
	b.Index = b.Index[:n]
	all := slices.Concat(b.Data, b.Label)
	for j := range all {
		t, err := all[j].Slice(it.cols[j].axis, 0, n)
		if err != nil {
			it.ended = err
			return nil, err
		}
		it.views[j] = *t
		if j < len(it.data) {
			b.Data[j] = &it.views[j]
		} else {
			b.Label[j-len(it.data)] = &it.views[j]
		}
	}
	return b, nil
}

// give returns the completed batch.
func (it *rowIter) give(pad int) *DataBatch {
	b := &it.batch
	b.Data, b.Label, b.Pad, b.Index = b.Data[:0], b.Label[:0], pad, it.index
	for i := range it.cols {
		if t := &it.cols[i].Tensor; i < len(it.data) {
			b.Data = append(b.Data, t)
		} else {
			b.Label = append(b.Label, t)
		}
	}
	it.n, it.carried = 0, 0
	return b
}

// put copies a row to index i of the batch.
func put(cols []stacked, i int, s *dataset.Sample) error {
	for j := range cols {
		if t, c := &s.Values[j].Tensor, &cols[j]; t.DType != c.DType || t.Size() != int64(c.outer*c.inner) {
			return fmt.Errorf("mxnet: %s: %v in a batch of %v", s.Key, t.Desc, c.Desc)
		}
		if err := cols[j].put(i, &s.Values[j].Tensor); err != nil {
			return fmt.Errorf("mxnet: %s: %w", s.Key, err)
		}
	}
	return nil
}

// Reset starts the next epoch. Rows carried over are the first ones of its
// first batch.
func (it *rowIter) Reset() error {
	if it.ended == dataset.ErrClosed {
		return it.ended
	}
	it.n, it.firstIndex, it.block, it.ended = it.carried, it.firstIndex[:0], nil, nil
	return it.run.NextEpoch()
}

// Close ends the iterator.
func (it *rowIter) Close() error {
	if it.ended == dataset.ErrClosed {
		return nil
	}
	it.ended = dataset.ErrClosed
	return errors.Join(it.run.Close(), it.built.Close())
}

// put copies t to row i of the batch.
func (c *stacked) put(i int, t *tensor.Tensor) error {
	if !t.Dense() {
		if err := c.scratch.Reset(t.Desc); err != nil {
			return err
		}
		if err := t.CopyTo(&c.scratch); err != nil {
			return err
		}
		t = &c.scratch
	}
	n := c.Shape.At(c.axis)
	for o := range c.outer {
		copy(c.Data[(o*n+i)*c.inner:][:c.inner], t.Data[o*c.inner:])
	}
	return nil
}

// zero clears row i of the batch.
func (c *stacked) zero(i int) {
	n := c.Shape.At(c.axis)
	for o := range c.outer {
		clear(c.Data[(o*n+i)*c.inner:][:c.inner])
	}
}

// without removes an axis from a shape.
func without(s tensor.Shape, axis int) (r tensor.Shape) {
	for a := range s.Rank() {
		if a != axis {
			r = r.Append(s.At(a))
		}
	}
	return r
}

// with inserts an axis of size n into a shape.
func with(s tensor.Shape, axis, n int) (r tensor.Shape) {
	for a := range s.Rank() + 1 {
		switch {
		case a < axis:
			r = r.Append(s.At(a))
		case a == axis:
			r = r.Append(n)
		default:
			r = r.Append(s.At(a - 1))
		}
	}
	return r
}

// columns returns the columns of a source of rows.
func columns(data, label []DataDesc) []dataset.Column {
	var l []dataset.Column
	for _, d := range slices.Concat(data, label) {
		l = append(l, dataset.Column{Name: d.Name, Desc: tensor.Desc{DType: d.DType, Shape: without(d.Shape, d.BatchAxis())}})
	}
	return append(l, dataset.Column{Name: rowsName, Desc: rowDesc})
}

var rowDesc = tensor.Desc{DType: tensor.Int64}

// setRow writes a row's number into its column.
func setRow(v *dataset.Value, row int64) error {
	if err := v.Reset(rowDesc); err != nil {
		return err
	}
	tensor.View[int64](&v.Tensor)[0] = row
	return nil
}

// readsAhead reports whether batches are prepared in goroutines.
func readsAhead(context string, buffer int) bool { return context == "gpu" && buffer > 0 }

// engineOf returns the engine of the parameters ctx and prefetch_buffer.
func engineOf(context string, buffer int) func(*dataset.Built) (Runner, error) {
	return func(b *dataset.Built) (Runner, error) {
		if !readsAhead(context, buffer) {
			return pullpipe.New(b, nil)
		}
		return pipeline.New(b, pipeline.Options{Prefetch: buffer}, nil)
	}
}

func localIfNil(o store.Opener) store.Opener {
	if o == nil {
		return store.Local
	}
	return o
}
