// Package random generates a dataset of random numbers in columns of any type
// and shape, for trials and measurements. Columns: those of the schema.
// Reference: MindSpore's RandomDataset.
package random

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/internal/noise"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Random is a dataset of random numbers. Row i is a function of Seed and i
// alone: the stream rng.NewKey(Seed, 0, "random").At(i) supplies the elements
// of all columns in order. Integers are uniform over their type: the low bits
// of a 32-bit number, or a 64-bit number for int64. Floating-point numbers lie
// in [0, 1): the upper 24 bits of a 32-bit number over 2^24 for float32, 11
// over 2^11 for float16, 8 over 2^8 for bfloat16, and Stream.Float64 for
// float64.
//
// Columns: those of the schema.
//
// Reference: MindSpore 2.10.0's RandomDataset has the same purpose but
// different numbers: it fills a whole tensor with one random byte. Its default
// columns and number of rows are random too.
type Random struct {
	Rows   int64    `json:"rows"`
	Schema []Column `json:"schema"`
	Seed   uint64   `json:"seed"`
}

// Column describes one column of the schema.
type Column struct {
	Name  string       `json:"name"`
	DType tensor.DType `json:"dtype"` // any but bytes
	Shape Shape        `json:"shape"`
}

// Shape is the size of every axis. It is empty for scalars.
type Shape []int

// MarshalJSON writes the shape of a scalar, nil or not, as an empty array.
func (s Shape) MarshalJSON() ([]byte, error) {
	if len(s) == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal([]int(s))
}

func init() {
	dataset.Register(dataset.Info{Name: "random", Version: 1, New: func() dataset.Node { return New(0) }, Doc: "random numbers in columns of any type and shape"})
}

// New returns a source of the given number of rows, with seed 0.
func New(rows int64, schema ...Column) *Random {
	return &Random{Rows: rows, Schema: append([]Column{}, schema...)}
}

// maxBytes limits the size of a row, as package codec limits tensors.
const maxBytes = 1 << 30

// Validate requires at least one row and valid columns of known size.
func (o *Random) Validate() error {
	if o.Rows < 1 {
		return fmt.Errorf("%w: rows %d, want at least 1", dataset.ErrParam, o.Rows)
	}
	if len(o.Schema) == 0 {
		return fmt.Errorf("%w: the schema has no columns, want 1 or more", dataset.ErrParam)
	}
	seen := map[string]bool{}
	left := int64(maxBytes)
	for _, c := range o.Schema {
		if c.Name == "" || seen[c.Name] {
			return fmt.Errorf("%w: schema: column %q, want distinct non-empty names", dataset.ErrParam, c.Name)
		}
		seen[c.Name] = true
		if !c.DType.Valid() || c.DType == tensor.Bytes {
			return fmt.Errorf("%w: schema: column %q: dtype %v, want a numeric type", dataset.ErrParam, c.Name, c.DType)
		}
		if len(c.Shape) > tensor.MaxRank {
			return fmt.Errorf("%w: schema: column %q: %d axes, want at most %d", dataset.ErrParam, c.Name, len(c.Shape), tensor.MaxRank)
		}
		d := c.desc()
		if err := d.Validate(); err != nil || d.Size() < 0 || d.Size() > left {
			return fmt.Errorf("%w: schema: column %q: %v, want known sizes and a row of at most %d bytes", dataset.ErrParam, c.Name, d, maxBytes)
		}
		left -= d.Size()
	}
	return nil
}

func (c *Column) desc() tensor.Desc {
	return tensor.Desc{DType: c.DType, Shape: tensor.Dims(c.Shape...)}
}

// Open validates the parameters; it reads no files.
func (o *Random) Open(ctx context.Context, _ store.Opener) (dataset.Data, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	d := &rows{n: o.Rows, key: rng.NewKey(o.Seed, 0, "random")}
	for _, c := range o.Schema {
		d.columns = append(d.columns, dataset.Column{Name: c.Name, Desc: c.desc()})
	}
	return d, nil
}

type rows struct {
	columns []dataset.Column
	n       int64
	key     rng.Key
}

func (d *rows) Columns() []dataset.Column { return d.columns }

func (d *rows) Len() int64 { return d.n }

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.n); err != nil {
		return fmt.Errorf("random: %w", err)
	}
	s.Key = "random"
	r := d.key.At(uint64(i))
	for c := range d.columns {
		if err := s.Values[c].Reset(d.columns[c].Desc); err != nil {
			return err
		}
		noise.Fill(&s.Values[c].Tensor, &r)
	}
	return nil
}

func (d *rows) Close() error { return nil }
