// Package inmemory is datasets of what a program has in memory. They are part of
// a program and not of a definition: they have no registered name, and so a
// definition that has one in it is refused when it is to be written.
package inmemory

import (
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/arrays"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/tensor"
)

// Slices is tensors that are sliced along their first axis: row i is slice i of
// each of them, and shares its memory (of a view that is not dense a copy is made).
//
// Columns: one for each tensor, of its name and type and its shape without the
// first axis; no layout. If one of them is named label and has integers without a
// shape, they are the rows' classes.
//
// Reference: MindSpore 2.10.0's NumpySlicesDataset for a dict.
type Slices struct {
	Tensors []tensor.Named // must not be written as long as the dataset is in use
}

// Samples is samples one by one.
//
// Columns: as given. Rows share the samples' memory.
type Samples struct {
	Columns []dataset.Column
	// Rows has the values of each sample, in the order of the columns. They must not
	// be written as long as the dataset is in use.
	Rows [][]*tensor.Tensor
	// Keys are the samples' keys. Nil: all are "inmemory".
	Keys []string
}

// New makes the source of tensors with the same size of their first axis.
func New(ts ...tensor.Named) *Slices { return &Slices{ts} }

// NewSamples makes the source of samples.
func NewSamples(columns []dataset.Column, rows ...[]*tensor.Tensor) *Samples {
	return &Samples{Columns: columns, Rows: rows}
}

// Validate checks the tensors' names and shapes.
func (o *Slices) Validate() error {
	for _, t := range o.Tensors {
		if t.T == nil || t.T.DType == tensor.Bytes {
			return fmt.Errorf("%w: %q is no tensor with axes", dataset.ErrParam, t.Name)
		}
	}
	_, err := arrays.New("inmemory", dataset.ErrParam, o.Tensors)
	return err
}

// Open looks at the tensors.
func (o *Slices) Open() (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return arrays.New("inmemory", dataset.ErrParam, o.Tensors)
}

// Validate checks that every sample is as the columns say.
func (o *Samples) Validate() error {
	if len(o.Columns) == 0 {
		return fmt.Errorf("%w: no columns", dataset.ErrParam)
	}
	for i, r := range o.Rows {
		if len(r) != len(o.Columns) {
			return fmt.Errorf("%w: sample %d has %d values, want %d", dataset.ErrParam, i, len(r), len(o.Columns))
		}
		for c, t := range r {
			if t == nil || !o.Columns[c].Desc.Matches(t.Desc) {
				return fmt.Errorf("%w: sample %d: %s is not %v", dataset.ErrParam, i, o.Columns[c].Name, o.Columns[c].Desc)
			}
		}
	}
	if o.Keys != nil && len(o.Keys) != len(o.Rows) {
		return fmt.Errorf("%w: %d keys, want %d", dataset.ErrParam, len(o.Keys), len(o.Rows))
	}
	return nil
}

// Open gives the samples.
func (o *Samples) Open() (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &rows{o}, nil
}

type rows struct{ o *Samples }

func (d *rows) Columns() []dataset.Column { return d.o.Columns }

func (d *rows) Len() int64 { return int64(len(d.o.Rows)) }

func (d *rows) Read(i int64, s *dataset.Sample) error {
	if err := files.Index(i, d.Len()); err != nil {
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

func (d *rows) Close() error { return nil }
