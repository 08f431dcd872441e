// Package arrays builds dataset rows by slicing tensors along their first axis.
package arrays

import (
	"context"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/tensor"
)

type rows struct {
	name    string
	columns []dataset.Column
	data    [][]byte
	step    []int // bytes per row
	n       int64
	keys    []string
}

// New returns rows of dense tensors that have equal first axes. The rows share
// the tensors' memory. Errors wrap kind and start with name, which is also the
// key of every row. A scalar integer column named "label" becomes the rows'
// class. layouts are those of the rows, none for tensors beyond. keys are those
// of dataset.Keyed.
func New(name string, kind error, ts []tensor.Named, layouts []tensor.Layout, keys ...string) (dataset.Rows, error) {
	bad := func(format string, args ...any) (dataset.Rows, error) {
		return nil, fmt.Errorf("%s: %w: %s", name, kind, fmt.Sprintf(format, args...))
	}
	if len(ts) == 0 {
		return bad("no arrays")
	}
	d := &rows{name: name, keys: keys}
	seen := map[string]bool{}
	label := -1
	for i, t := range ts {
		shape := t.T.Shape
		if t.Name == "" || seen[t.Name] {
			return bad("array %d: name %q, want distinct non-empty names", i, t.Name)
		}
		seen[t.Name] = true
		if shape.Rank() == 0 {
			return bad("%s is a scalar, want an array of rows", t.Name)
		}
		n := int64(shape.At(0))
		if i > 0 && n != d.n {
			return bad("%s has %d rows, want %d as %s", t.Name, n, d.n, ts[0].Name)
		}
		dense := t.T
		if int64(len(t.T.Data)) != t.T.Size() {
			dense = t.T.Clone()
		} else if c, err := tensor.Wrap(t.T.Desc, t.T.Data); err != nil || c.Strides != t.T.Strides {
			dense = t.T.Clone()
		}
		c := tensor.Desc{DType: dense.DType}
		if i < len(layouts) {
			c.Layout = layouts[i]
		}
		for a := 1; a < shape.Rank(); a++ {
			c.Shape = c.Shape.Append(shape.At(a))
		}
		d.n = n
		d.columns = append(d.columns, dataset.Column{Name: t.Name, Desc: c})
		d.data = append(d.data, dense.Data)
		d.step = append(d.step, int(c.Size()))
		if t.Name == "label" && c.Shape.Rank() == 0 {
			switch c.DType {
			case tensor.Uint8, tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Bool:
				label = i
			}
		}
	}
	if label >= 0 {
		return &classed{d, label}, nil
	}
	return d, nil
}

func (d *rows) Columns() []dataset.Column { return d.columns }

func (d *rows) Len() int64 { return d.n }

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.n); err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	s.Key = d.name
	for c := range d.columns {
		t := tensor.Tensor{Desc: d.columns[c].Desc, Data: d.data[c][int(i)*d.step[c]:][:d.step[c]:d.step[c]]}
		stride := 1
		for a := t.Shape.Rank() - 1; a >= 0; a-- {
			t.Strides[a] = stride
			stride *= t.Shape.At(a)
		}
		s.Values[c].Share(&t)
	}
	return nil
}

func (d *rows) Keys(yield func(string) bool) { files.EachKey(d.keys, yield) }

func (d *rows) Close() error { return nil }

// classed is rows with a label column.
type classed struct {
	*rows
	label int
}

func (d *classed) Class(i int64) (int64, error) {
	if err := files.Index(i, d.n); err != nil {
		return 0, fmt.Errorf("%s: %w", d.name, err)
	}
	b := d.data[d.label]
	switch d.columns[d.label].Desc.DType {
	case tensor.Int8:
		return int64(int8(b[i])), nil
	case tensor.Uint16:
		return int64(tensor.Cast[uint16](b)[i]), nil
	case tensor.Int16:
		return int64(tensor.Cast[int16](b)[i]), nil
	case tensor.Int32:
		return int64(tensor.Cast[int32](b)[i]), nil
	case tensor.Int64:
		return tensor.Cast[int64](b)[i], nil
	}
	return int64(b[i]), nil // Uint8, Bool
}
