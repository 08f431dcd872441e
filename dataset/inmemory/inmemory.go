// Package inmemory serves samples that a program already has in memory.
// Columns: one for each tensor, or those that the caller gives. Reference:
// MindSpore's NumpySlicesDataset.
//
// These sources have no registered name, so a definition that contains one
// can't be written as JSON or msgp.
package inmemory

import (
	"context"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/arrays"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Slices is a dataset of tensors sliced along their first axis. Row i is slice
// i of each tensor and shares its memory; a tensor that is not dense is copied
// first.
//
// A state notices another number of rows, not other values.
//
// Columns: one for each tensor, with its name, its type and its shape without
// the first axis; no layout. A scalar integer column named "label" becomes the
// rows' class.
//
// Reference: MindSpore 2.10.0's NumpySlicesDataset for a dict.
type Slices struct {
	Tensors []tensor.Named // must not be modified while the dataset is in use
}

// Samples is a dataset of separate samples.
//
// Columns: as given. Rows share the samples' memory.
type Samples struct {
	Columns []dataset.Column
	// Rows has the values of each sample, in the order of the columns. They
	// must not be modified while the dataset is in use.
	Rows [][]*tensor.Tensor
	// Keys has one key per sample. If nil, every key is "inmemory", and a state
	// notices only another number of samples.
	Keys []string
}

// New returns a source of tensors whose first axes have the same size.
func New(ts ...tensor.Named) *Slices { return &Slices{ts} }

// NewSamples returns a source of separate samples.
func NewSamples(columns []dataset.Column, rows ...[]*tensor.Tensor) *Samples {
	return &Samples{Columns: columns, Rows: rows}
}

// Validate checks the tensors' names and shapes.
func (o *Slices) Validate() error {
	for _, t := range o.Tensors {
		if t.T == nil || t.T.DType == tensor.Bytes {
			return fmt.Errorf("%w: tensor %q is missing or of bytes, want an array", dataset.ErrParam, t.Name)
		}
	}
	_, err := arrays.New("inmemory", dataset.ErrParam, o.Tensors, nil)
	return err
}

// Open checks the tensors; it copies only those that are not dense.
func (o *Slices) Open(ctx context.Context, _ store.Opener) (dataset.Data, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return arrays.New("inmemory", dataset.ErrParam, o.Tensors, nil)
}

// Validate checks that every sample matches the columns.
func (o *Samples) Validate() error {
	if len(o.Columns) == 0 {
		return fmt.Errorf("%w: no columns, want 1 or more", dataset.ErrParam)
	}
	for i, r := range o.Rows {
		if len(r) != len(o.Columns) {
			return fmt.Errorf("%w: sample %d has %d values, want %d", dataset.ErrParam, i, len(r), len(o.Columns))
		}
		for c, t := range r {
			if t == nil || !o.Columns[c].Desc.Matches(t.Desc) {
				return fmt.Errorf("%w: sample %d: column %s, want %v", dataset.ErrParam, i, o.Columns[c].Name, o.Columns[c].Desc)
			}
		}
	}
	if o.Keys != nil && len(o.Keys) != len(o.Rows) {
		return fmt.Errorf("%w: %d keys, want %d", dataset.ErrParam, len(o.Keys), len(o.Rows))
	}
	return nil
}

// Open checks the samples; it copies nothing.
func (o *Samples) Open(ctx context.Context, _ store.Opener) (dataset.Data, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &rows{o}, nil
}

type rows struct{ o *Samples }

func (d *rows) Columns() []dataset.Column { return d.o.Columns }

func (d *rows) Len() int64 { return int64(len(d.o.Rows)) }

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return fmt.Errorf("inmemory: %w", err)
	}
	s.Key = "inmemory"
	if d.o.Keys != nil {
		s.Key = d.o.Keys[i]
	}
	for c, t := range d.o.Rows[i] {
		s.Values[c].Share(t)
	}
	return nil
}

// Keys yields Samples.Keys.
func (d *rows) Keys(yield func(string) bool) { files.EachKey(d.o.Keys, yield) }

func (d *rows) Close() error { return nil }
