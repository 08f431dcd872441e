package mxnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// ToOptions are those of ToDataset.
type ToOptions struct {
	// Same says that every epoch of the iterator has the same batches in the same
	// order, so that Reset begins any epoch again.
	Same bool
	// KeepPad keeps the rows that only fill a batch.
	KeepPad bool
}

// ErrRewind is the error of an epoch that an iterator cannot begin again.
var ErrRewind = errors.New("mxnet: the iterator has passed the beginning of the epoch, and its epochs are not the same (ToOptions.Same)")

// ErrBusy is the error of an iterator that is wanted by two runs at once.
var ErrBusy = errors.New("mxnet: the iterator is in use by another run")

// ToDataset makes a dataset's source of a DataIter: its samples are the iterator's batches,
// without the rows that only fill them, with the columns that ProvideData and
// ProvideLabel name. Unbatch makes rows of them, if the batch's axis is the first:
//
//	d := dataset.From(mxnet.ToDataset(it, mxnet.ToOptions{})).Unbatch().Shuffle…
//
// Epoch 0 of the dataset is the iterator's from where it stands, each Reset is the next
// one. So a run that was stopped is resumed exactly by an iterator that was made anew
// and gives the same epochs: epochs before that of the state are read through. The iterator is of one run at
// a time (ErrBusy), which may be of either engine. It stays the caller's to close, after the
// run; its Next is called without a deadline until the Built is closed.
//
// A batch that is not as ProvideData and ProvideLabel, or its own, say is a *DescError;
// sizes that differ from batch to batch are Unknown in the iterator's.
func ToDataset(it DataIter, o ToOptions) dataset.Source { return &iterSource{it: it, o: o} }

type iterSource struct {
	it DataIter
	o  ToOptions

	mu      sync.Mutex
	epoch   uint64 // that the iterator stands in
	touched bool   // Next was called in it
	busy    bool
}

// Validate wants inputs with an axis of the batch.
func (s *iterSource) Validate() error {
	if s.it == nil {
		return fmt.Errorf("mxnet: %w: no iterator", dataset.ErrParam)
	}
	if len(s.it.ProvideData()) == 0 {
		return fmt.Errorf("mxnet: %w: the iterator provides no data", dataset.ErrParam)
	}
	for _, d := range slices.Concat(s.it.ProvideData(), s.it.ProvideLabel()) {
		if a := d.BatchAxis(); a < 0 || a >= d.Shape.Rank() || d.DType == tensor.Bytes {
			return fmt.Errorf("mxnet: %w: %v has no axis of the batch", dataset.ErrParam, d)
		}
	}
	return nil
}

// Open gives a stream; the iterator is not touched.
func (s *iterSource) Open() (dataset.Data, error) {
	x := &iterStream{s: s}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	for _, d := range slices.Concat(s.it.ProvideData(), s.it.ProvideLabel()) {
		desc := d.desc()
		desc.Shape = desc.Shape.With(d.BatchAxis(), tensor.Unknown) // short, or without its padding
		x.columns = append(x.columns, dataset.Column{Name: d.Name, Desc: desc})
		x.axes = append(x.axes, d.BatchAxis())
	}
	return x, nil
}

type iterStream struct {
	s       *iterSource
	ctx     context.Context
	cancel  context.CancelFunc
	columns []dataset.Column
	axes    []int
}

func (x *iterStream) Columns() []dataset.Column { return x.columns }

// Close ends a Next that waits. The iterator is the caller's.
func (x *iterStream) Close() error {
	x.cancel()
	return nil
}

// Start brings the iterator to the beginning of an epoch.
func (x *iterStream) Start(epoch uint64) (dataset.Reader, error) {
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
		return nil, fmt.Errorf("%w: epoch %d is wanted, it stands in %d", ErrRewind, epoch, s.epoch)
	}
	for !s.o.Same && s.epoch < epoch {
		// An epoch may depend on those before, as with rows carried over.
		for !s.touched {
			if _, err := s.it.Next(x.ctx); err == io.EOF {
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

// iterReader reads the epoch.
type iterReader struct {
	x    *iterStream
	step int64
	over bool
}

// Next copies the next batch. An error of the iterator's ends the epoch, since it
// may be given again and again; a batch that is not as described is a bad sample.
func (r *iterReader) Next(s *dataset.Sample) error {
	if r.over {
		return io.EOF
	}
	x := r.x
	s.Key = fmt.Sprintf("batch %d", r.step)
	b, err := x.s.it.Next(x.ctx)
	if err != nil {
		r.over = true
		return err
	}
	defer func() { r.step++ }()
	axes, descs := x.axes, slices.Concat(b.ProvideData, b.ProvideLabel)
	if len(descs) > 0 && len(descs) != len(axes) {
		return fmt.Errorf("mxnet: batch %d: it describes %d inputs, the iterator %d", r.step, len(descs), len(axes))
	}
	for i := range descs { // of the batch itself
		a := descs[i].BatchAxis()
		if a != axes[i] {
			return fmt.Errorf("mxnet: batch %d: %v, the iterator has the batch's axis at %d", r.step, descs[i], axes[i])
		}
	}
	l := slices.Concat(b.Data, b.Label)
	if len(b.Data) != len(x.s.it.ProvideData()) || len(l) != len(axes) {
		return fmt.Errorf("mxnet: batch %d: %d data and %d labels, the iterator provides %d inputs", r.step, len(b.Data), len(b.Label), len(axes))
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
		// Both what the batch says and the dataset's column.
		if !want.Matches(got) || !x.columns[i].Desc.Matches(got) || t.Shape.At(axes[i]) != rows {
			want.Shape = want.Shape.With(axes[i], rows)
			return &DescError{r.step, x.columns[i].Name, got, want}
		}
		keep := rows
		if !x.s.o.KeepPad {
			keep -= b.Pad
		}
		if b.Pad < 0 || keep < 0 {
			return fmt.Errorf("mxnet: batch %d: pad %d of %d rows", r.step, b.Pad, rows)
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

// Close lets go of the iterator.
func (r *iterReader) Close() error {
	r.x.s.mu.Lock()
	defer r.x.s.mu.Unlock()
	r.x.s.busy = false
	return nil
}
