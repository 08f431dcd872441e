package datagraph

import (
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// BatchRule is the way in which the tensors of several samples become the
// tensor of a batch.
type BatchRule uint8

// The rules.
const (
	// BatchStack adds a first axis, the batch. All tensors must have one shape.
	BatchStack BatchRule = iota
	// BatchPad pads every axis at its end to the largest of the batch, then
	// stacks.
	BatchPad
	// BatchConcat joins the tensors along their first axis.
	BatchConcat
	// BatchSingle has batches of one sample only, whose tensor they are. It is
	// for outputs that the reference joins as no other rule does.
	BatchSingle
)

var batchRuleNames = []string{"stack", "pad", "concat", "single"}

// Stacks reports whether a batch has a first axis that the samples do not have.
func (r BatchRule) Stacks() bool { return r < BatchConcat }

func (r BatchRule) String() string { return enum.String("batch rule", batchRuleNames, r) }

// MarshalText returns the name.
func (r BatchRule) MarshalText() ([]byte, error) {
	return enum.Format("batch rule", batchRuleNames, r)
}

// UnmarshalText parses the name.
func (r *BatchRule) UnmarshalText(t []byte) error {
	return enum.Parse(r, "batch rule", batchRuleNames, t)
}

// Batching says how a batch of a column is formed. The zero value stacks.
type Batching struct {
	Rule  BatchRule `json:"rule"`
	Value float64   `json:"value"` // of the padding; 0 unless Rule is pad
}

// BatchColumn is the Batching of a column.
type BatchColumn struct {
	Column string `json:"column"`
	Batching
}

// SetBatch sets the Batching of a column and returns g.
func (g *Graph) SetBatch(column string, b Batching) *Graph {
	l := slices.DeleteFunc(slices.Clone(g.Batch), func(c BatchColumn) bool { return c.Column == column })
	if b != (Batching{}) {
		l = append(l, BatchColumn{column, b})
	}
	g.Batch = slices.Clip(l)
	if len(l) == 0 {
		g.Batch = nil
	}
	return g
}

// batching returns the Batching of a column.
func (g *Graph) batching(column string) Batching {
	for _, c := range g.Batch {
		if c.Column == column {
			return c.Batching
		}
	}
	return Batching{}
}

// validateBatch checks g.Batch. have holds the graph's columns.
func (g *Graph) validateBatch(have map[string]bool) error {
	if len(g.Batch) > maxColumns {
		return graphErr("batch rules for %d columns, want at most %d", len(g.Batch), maxColumns)
	}
	for i, c := range g.Batch {
		switch {
		case !have[c.Column]:
			return graphErr("a batch rule for column %q, which no step produces", c.Column)
		case slices.ContainsFunc(g.Batch[:i], func(o BatchColumn) bool { return o.Column == c.Column }):
			return graphErr("two batch rules for column %q", c.Column)
		case int(c.Rule) >= len(batchRuleNames):
			return graphErr("batch rule of column %q is %v, want one of %q", c.Column, c.Rule, batchRuleNames)
		case c.Rule != BatchPad && c.Value != 0:
			return graphErr("batch rule of column %q is %v with value %v, want 0", c.Column, c.Rule, c.Value)
		case math.IsNaN(c.Value) || math.IsInf(c.Value, 0):
			return graphErr("batch rule of column %q has value %v, want a finite number", c.Column, c.Value)
		}
	}
	return nil
}

// Collate forms a batch of the outputs of several runs, by the graph's Batch.
// samples[i] holds the tensors of sample i, in the order of Outputs; result j
// is the batch of output j. The results are new memory. A Runner's tensors are
// valid until its next Run only: clone them, or take them with Take.
//
// Columns of bytes, shapes that a rule does not admit, and results larger than
// Limits.Bytes together are errors.
func (p *Plan) Collate(samples [][]*tensor.Tensor) ([]*tensor.Tensor, error) {
	columns := p.Outputs()
	if len(samples) == 0 {
		return nil, errfmt.Errorf("datagraph: collate: no samples")
	}
	for i, s := range samples {
		if len(s) != len(columns) {
			return nil, errfmt.Errorf("datagraph: collate: sample %d has %d tensors, want %d", i, len(s), len(columns))
		}
	}
	batch := make([]*tensor.Tensor, len(columns))
	room := p.options.Limits.Bytes
	for j, c := range columns {
		list := make([]*tensor.Tensor, len(samples))
		for i, s := range samples {
			list[i] = s[j]
		}
		d, err := c.Batch.Shape(list)
		if err == nil && p.options.Limits.Bytes > 0 {
			if room -= d.Size(); room < 0 {
				err = errfmt.Errorf("%w: the batch needs more than %d bytes", codec.ErrBytes, p.options.Limits.Bytes)
			}
		}
		if err == nil {
			batch[j] = &tensor.Tensor{}
			if err = batch[j].Reset(d); err == nil {
				err = c.Batch.Fill(batch[j], list)
			}
		}
		if err != nil {
			return nil, errfmt.Errorf("datagraph: collate: output %q: %w", c.Name, err)
		}
	}
	return batch, nil
}

// Shape describes the batch of the tensors in list, which must not be empty.
func (b Batching) Shape(list []*tensor.Tensor) (d tensor.Desc, err error) {
	first := list[0].Desc
	rank := first.Shape.Rank()
	if first.DType == tensor.Bytes || b.Rule.Stacks() && rank == tensor.MaxRank || b.Rule == BatchConcat && rank == 0 {
		return d, errfmt.Errorf("%w: %v has no batch by rule %v", tensor.ErrDesc, first, b.Rule)
	}
	if b.Rule == BatchSingle && len(list) > 1 {
		return d, errfmt.Errorf("%w: %d samples have no batch by rule %v", tensor.ErrDesc, len(list), b.Rule)
	}
	shape := first.Shape
	for i, t := range list[1:] {
		if t.DType != first.DType || t.Shape.Rank() != rank {
			return d, errfmt.Errorf("%w: sample %d is %v, sample 0 %v", tensor.ErrDesc, i+1, t.Desc, first)
		}
		for a := range rank {
			n, m := shape.At(a), t.Shape.At(a)
			switch {
			case b.Rule == BatchConcat && a == 0:
				if n > math.MaxInt-m {
					return d, errfmt.Errorf("%w: too many rows", tensor.ErrDesc)
				}
				shape = shape.With(0, n+m)
			case b.Rule == BatchPad:
				shape = shape.With(a, max(n, m))
			case n != m:
				return d, errfmt.Errorf("%w: sample %d is %v, sample 0 %v: rule %v needs equal sizes", tensor.ErrDesc, i+1, t.Desc, first, b.Rule)
			}
		}
	}
	d = tensor.Desc{DType: first.DType}
	if b.Rule.Stacks() {
		d.Shape = tensor.Dims(len(list))
	}
	for a := range rank {
		d.Shape = d.Shape.Append(shape.At(a))
	}
	return d, d.Validate()
}

// Fill writes the batch of the tensors in list into dst, which must be dense
// and as Shape describes it.
func (b Batching) Fill(dst *tensor.Tensor, list []*tensor.Tensor) error {
	at := 0
	for _, t := range list {
		part := tensor.Tensor{Desc: tensor.Desc{DType: dst.DType}}
		if !b.Rule.Stacks() {
			part.Shape = t.Shape
		} else {
			for a := 1; a < dst.Shape.Rank(); a++ {
				part.Shape = part.Shape.Append(dst.Shape.At(a))
			}
		}
		size := int(part.Size())
		part.Data = dst.Data[at : at+size : at+size]
		if err := part.Reset(part.Desc); err != nil {
			return err
		}
		if err := t.CopyPadded(&part, b.Value); err != nil {
			return err
		}
		at += size
	}
	return nil
}
