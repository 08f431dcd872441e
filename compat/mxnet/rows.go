package mxnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// Runner is a run of a dataset by either engine: *pullpipe.Pipe, *pipeline.Pipeline.
type Runner interface {
	Next(ctx context.Context) (*dataset.Sample, error)
	NextEpoch() error
	Close() error
}

// last says what becomes of an epoch's last rows, if they are no batch.
type last uint8

const (
	lastPad     last = iota // rows of the epoch's beginning follow
	lastDiscard             // they are left out
	lastRoll                // they come first in the next epoch
	lastZero                // zeros follow
)

// rowsName is the column of rows' numbers. No input can have it, since names with
// a NUL are refused.
const rowsName = "\x00row"

// rowIter makes batches of the rows that a run gives: their order, and reading
// ahead, are the run's.
type rowIter struct {
	data, label []DataDesc
	// src gives rows by number. Its columns are those of data, of label, and the
	// row's number.
	src   dataset.Rows
	built *dataset.Built
	run   Runner
	size  int
	last  last
	// blocks says that the run gives the rows in batches, so that it reads whole
	// batches ahead.
	blocks bool
	block  *dataset.Sample // of which at rows were taken
	at     int

	cols  []stacked // of data and then label
	batch DataBatch
	index []int64
	n     int     // rows that the next batch has already
	first []int64 // the epoch's first rows
	carry []int64 // rows of the epoch before that no batch had
	extra dataset.Sample
	ended error
}

// stacked is the tensor of a batch.
type stacked struct {
	tensor.Tensor
	axis    int // of the batch
	outer   int // elements before the axis
	inner   int // bytes behind it
	scratch tensor.Tensor
}

// source is a dataset.Source of data that is open.
type source struct{ rows dataset.Rows }

func (s *source) Validate() error { return nil }

func (s *source) Open() (dataset.Data, error) { return s.rows, nil }

// newRowIter begins an iterator. It closes src if it fails, and when it is closed.
func newRowIter(src dataset.Rows, data, label []DataDesc, size int, how last, seed uint64, shuffle, blocks bool,
	engine func(*dataset.Built) (Runner, error)) (*rowIter, error) {
	it := &rowIter{data: data, label: label, src: src, size: size, last: how, blocks: blocks, index: make([]int64, size)}
	for _, d := range slices.Concat(data, label) {
		c := stacked{axis: d.BatchAxis(), outer: 1, inner: d.DType.Size()}
		if err := c.Reset(d.desc()); err != nil {
			return nil, errors.Join(err, src.Close())
		}
		for a := range d.Shape.Rank() {
			switch {
			case a < c.axis:
				c.outer *= d.Shape.At(a)
			case a > c.axis:
				c.inner *= d.Shape.At(a)
			}
		}
		it.cols = append(it.cols, c)
	}
	it.extra.Values = make([]dataset.Value, len(it.cols)+1)
	d := dataset.From(&source{src})
	if shuffle {
		d = d.Shuffle()
	}
	if blocks {
		d = d.Batch(size)
	}
	var err error
	// Build closes src if it fails.
	if it.built, err = dataset.Build(d, dataset.Options{Seed: seed}); err != nil {
		return nil, err
	}
	if it.run, err = engine(it.built); err != nil {
		return nil, errors.Join(err, it.built.Close())
	}
	return it, nil
}

// ProvideData describes the data of batches.
func (it *rowIter) ProvideData() []DataDesc { return it.data }

// ProvideLabel describes the labels of batches.
func (it *rowIter) ProvideLabel() []DataDesc { return it.label }

// Next gives the next batch; see DataIter.
func (it *rowIter) Next(ctx context.Context) (*DataBatch, error) {
	if it.ended != nil {
		return nil, it.ended
	}
	for it.n < min(len(it.carry), it.size) {
		if err := it.read(it.carry[it.n]); err != nil {
			return nil, it.fail(err)
		}
	}
	for it.n < it.size {
		err := it.take(ctx)
		if err == io.EOF {
			return it.lastBatch()
		}
		if err != nil {
			return nil, err
		}
	}
	it.carry = it.carry[:0]
	return it.give(0), nil
}

// take puts the next row of the run.
func (it *rowIter) take(ctx context.Context) error {
	s := it.block
	if s == nil {
		var err error
		if s, err = it.run.Next(ctx); err != nil {
			// If ctx is what ended, the run may still go on; if not, it says so again.
			return err
		}
		it.at = 0
	}
	numbers := tensor.View[int64](&s.Values[len(it.cols)].Tensor)
	number := numbers[it.at]
	if it.last == lastPad && len(it.first) < it.size {
		it.first = append(it.first, number)
	}
	if !it.blocks {
		return it.fail(it.put(s, number))
	}
	for j := range it.cols {
		r := row(&s.Values[j].Tensor, 0, it.at)
		it.extra.Values[j].Share(&r)
	}
	it.extra.Key = s.Key
	it.block = s
	if it.at++; it.at == len(numbers) {
		it.block = nil
	}
	return it.fail(it.put(&it.extra, number))
}

// lastBatch is what there is at the end of the data.
func (it *rowIter) lastBatch() (*DataBatch, error) {
	it.ended = io.EOF
	n := it.n
	it.n = 0
	switch {
	case it.last == lastRoll:
		it.carry = append(it.carry[:0], it.index[:n]...)
		return nil, io.EOF
	case n == 0 || it.last == lastDiscard:
		return nil, io.EOF
	}
	it.n = n
	for i := 0; it.n < it.size; i++ {
		if it.last == lastZero {
			for j := range it.cols {
				it.cols[j].zero(it.n)
			}
			it.index[it.n] = -1
			it.n++
			continue
		}
		if err := it.read(it.first[i%len(it.first)]); err != nil {
			return nil, it.fail(err)
		}
	}
	return it.give(it.size - n), nil
}

// give is the batch that is complete.
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
	it.n = 0
	return b
}

// fail ends the epoch if there is an error.
func (it *rowIter) fail(err error) error {
	if err != nil {
		it.ended = err
	}
	return err
}

// read puts a row that is wanted again.
func (it *rowIter) read(row int64) error {
	if err := it.src.Read(row, &it.extra); err != nil {
		return err
	}
	return it.put(&it.extra, row)
}

// put makes a row the batch's next one.
func (it *rowIter) put(s *dataset.Sample, row int64) error {
	for j := range it.cols {
		if err := it.cols[j].put(it.n, &s.Values[j].Tensor); err != nil {
			return fmt.Errorf("mxnet: %s: %w", s.Key, err)
		}
	}
	it.index[it.n] = row
	it.n++
	return nil
}

// Reset begins the next epoch. Rows that were carried over stay for its first batch.
func (it *rowIter) Reset() error {
	if it.ended == dataset.ErrClosed {
		return it.ended
	}
	it.n, it.first, it.block, it.ended = 0, it.first[:0], nil, nil
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

// put makes row t the i-th of the batch.
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

// zero makes row i of the batch zeros.
func (c *stacked) zero(i int) {
	n := c.Shape.At(c.axis)
	for o := range c.outer {
		clear(c.Data[(o*n+i)*c.inner:][:c.inner])
	}
}

// without is a shape without an axis.
func without(s tensor.Shape, axis int) (r tensor.Shape) {
	for a := range s.Rank() {
		if a != axis {
			r = r.Append(s.At(a))
		}
	}
	return r
}

// with is a shape with one more axis of n.
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

// columns are those of a source of rows.
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
