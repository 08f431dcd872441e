package mxnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// ToOptions are the options of ToDataset.
type ToOptions struct {
	// Same declares that every epoch of the iterator has the same batches in
	// the same order. Then Reset can start any epoch.
	Same bool
	// KeepPad keeps the rows that only pad a batch.
	KeepPad bool
}

// ErrRewind reports an epoch that an iterator can't start again.
var ErrRewind = errors.New("mxnet: the iterator has passed the start of the epoch, and ToOptions.Same is not set")

// ErrBusy reports an iterator that is in use by another run.
var ErrBusy = errors.New("mxnet: the iterator is in use by another run")

// ToDataset returns a dataset.Source whose samples are the iterator's batches,
// without padding rows. Its columns are those that ProvideData and ProvideLabel
// describe. Unbatch splits the batches into rows if the batch's axis comes
// first:
//
//	d := dataset.From(mxnet.ToDataset(it, mxnet.ToOptions{})).Unbatch().Shuffle…
//
// Epoch 0 of the dataset is the iterator's current epoch, and each Reset starts
// the next one. To resume a stopped run exactly, create a new iterator with the
// same epochs; epochs before that of the state are read and dropped. Only one
// run of either engine may use the iterator at a time; others get ErrBusy. The
// caller closes the iterator after the run. Closing the Built ends a Next that
// waits.
//
// A batch that does not match ProvideData and ProvideLabel, the iterator's or
// its own, is a *DescError. Sizes that differ between batches are Unknown in
// the iterator's descriptions.
func ToDataset(it DataIter, o ToOptions) dataset.Source { return &iterSource{it: it, o: o} }

type iterSource struct {
	it DataIter
	o  ToOptions

	mu      sync.Mutex // current epoch of the iterator
	epoch   uint64     // Next was called in this epoch
	touched bool       // Next was called in it
	busy    bool
}

// Validate requires inputs with a batch axis.
func (s *iterSource) Validate() error {
	if s.it == nil {
		return fmt.Errorf("mxnet: %w: no iterator", dataset.ErrParam)
	}
	if len(s.it.ProvideData()) == 0 {
		return fmt.Errorf("mxnet: %w: the iterator provides no data", dataset.ErrParam)
	}
	for _, d := range slices.Concat(s.it.ProvideData(), s.it.ProvideLabel()) {
		if a := d.BatchAxis(); a < 0 || a >= d.Shape.Rank() || d.DType == tensor.Bytes {
			return fmt.Errorf("mxnet: %w: %v has no batch axis", dataset.ErrParam, d)
		}
	}
	return nil
}

// Open returns a Stream. It does not use the iterator yet.
func (s *iterSource) Open(context.Context, store.Opener) (dataset.Data, error) {
	x := &iterStream{s: s}
	for _, d := range slices.Concat(s.it.ProvideData(), s.it.ProvideLabel()) {
		desc := d.desc()
		desc.Shape = desc.Shape.With(d.BatchAxis(), tensor.Unknown) // a batch may be short, or lose its padding
		x.columns = append(x.columns, dataset.Column{Name: d.Name, Desc: desc})
		x.axes = append(x.axes, d.BatchAxis())
	}
	return x, nil
}

type iterStream struct {
	s       *iterSource
	columns []dataset.Column
	axes    []int
}

func (x *iterStream) Columns() []dataset.Column { return x.columns }

// Close does nothing: the caller closes the iterator.
func (x *iterStream) Close() error { return nil }

// Start moves the iterator to the start of an epoch.
func (x *iterStream) Start(ctx context.Context, epoch uint64) (dataset.Reader, error) {
	s := x.s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.busy:
		return nil, ErrBusy
	case epoch == s.epoch && !s.touched:
	case s.o.Same:
		if err := s.it.Reset(); err != nil {
			return nil, err
		}
	case epoch <= s.epoch:
		return nil, fmt.Errorf("%w: epoch %d is requested, the iterator is in epoch %d", ErrRewind, epoch, s.epoch)
	}
	for !s.o.Same && s.epoch < epoch {
		// Read at least one batch: an epoch can depend on the one before, as
		// with rows carried over.
		for !s.touched {
			if _, err := s.it.Next(ctx); err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
		}
		if err := s.it.Reset(); err != nil {
			return nil, err
		}
		s.epoch, s.touched = s.epoch+1, false
	}
	s.epoch, s.touched, s.busy = epoch, true, true
	return &iterReader{x: x}, nil
}

// iterReader reads one epoch.
type iterReader struct {
	x    *iterStream
	step int64
	over bool
}

// Next copies the next batch. An error of the iterator ends the epoch, since
// the iterator may return it forever. A batch that does not match its
// description is a bad sample.
func (r *iterReader) Next(ctx context.Context, s *dataset.Sample) error {
	if r.over {
		return io.EOF
	}
	x := r.x
	s.Key = fmt.Sprintf("batch %d", r.step)
	b, err := x.s.it.Next(ctx)
	if err != nil {
		r.over = true
		return err
	}
	defer func() { r.step++ }()
	axes, descs := x.axes, slices.Concat(b.ProvideData, b.ProvideLabel)
	if len(descs) > 0 && len(descs) != len(axes) {
		return fmt.Errorf("mxnet: batch %d: it describes %d inputs, want %d as the iterator provides", r.step, len(descs), len(axes))
	}
	for i := range descs { // the batch's own description
		a := descs[i].BatchAxis()
		if a != axes[i] {
			return fmt.Errorf("mxnet: batch %d: %v, want the batch's axis at %d as in the iterator", r.step, descs[i], axes[i])
		}
	}
	l := slices.Concat(b.Data, b.Label)
	if len(b.Data) != len(x.s.it.ProvideData()) || len(l) != len(axes) {
		return fmt.Errorf("mxnet: batch %d: %d data and %d labels, want %d inputs as the iterator provides", r.step, len(b.Data), len(b.Label), len(axes))
	}
	rows := -1
	for i, t := range l {
		want := x.columns[i].Desc
		if len(descs) > 0 {
			want.DType = descs[i].DType
			want.Shape = descs[i].Shape.With(axes[i], tensor.Unknown)
		}
		if t == nil {
			return &DescError{r.step, x.columns[i].Name, tensor.Desc{}, want}
		}
		got := tensor.Desc{DType: t.DType, Shape: t.Shape}
		if want.Matches(got) && rows < 0 {
			rows = t.Shape.At(axes[i])
		}
		// Check both the batch's description and the dataset's column.
		if !want.Matches(got) || !x.columns[i].Desc.Matches(got) || t.Shape.At(axes[i]) != rows {
			want.Shape = want.Shape.With(axes[i], rows)
			return &DescError{r.step, x.columns[i].Name, got, want}
		}
		keep := rows
		if !x.s.o.KeepPad {
			keep -= b.Pad
		}
		if b.Pad < 0 || keep < 0 {
			return fmt.Errorf("mxnet: batch %d: pad %d, want 0 to %d", r.step, b.Pad, rows)
		}
		part, err := t.Slice(axes[i], 0, keep)
		if err != nil {
			return err
		}
		part.Layout = tensor.NoLayout
		if err := s.Values[i].Reset(part.Desc); err != nil {
			return err
		}
		if err := part.CopyTo(&s.Values[i].Tensor); err != nil {
			return err
		}
	}
	return nil
}

// Close makes the iterator available to other runs.
func (r *iterReader) Close() error {
	r.x.s.mu.Lock()
	defer r.x.s.mu.Unlock()
	r.x.s.busy = false
	return nil
}
